#include "tools/ncu/profile_command.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "settings/reference.h"

namespace profline::ncu {
namespace {

using settings::Ncu;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using Argv = std::vector<std::string>;

const Installation kNcu{"/opt/ncu", {2024, 1, 1}};
const Capture kCapture{.output = "/r/ncu/run", .log = "/r/ncu/ncu.log"};

Command workload() {
  Command command{.argv = {"/bin/app", "--mode", "profiled"}};
  command.cwd = "/r/ncu";
  command.log = "/r/ncu/workload/log";
  return command;
}

Argv argv_of(const Ncu& settings, const Capture& capture = kCapture) {
  return profile_command(kNcu, settings, capture, workload()).argv;
}

/// What follows an option; empty if it is absent, joined if it occurs more than once.
std::string value_of(const Argv& argv, std::string_view option) {
  std::string value;
  for (std::size_t i = 0; i + 1 < argv.size(); ++i) {
    if (argv[i] == option) value += (value.empty() ? "" : " ") + argv[i + 1];
  }
  return value;
}

Ncu plain() {
  Ncu settings;
  settings.max_launches = 2000;
  settings.ncu_cli.target_processes = settings::TargetProcesses::All;
  settings.ncu_cli.replay_mode = settings::ReplayMode::Kernel;
  settings.ncu_cli.set = "roofline";
  settings.ncu_cli.kernel_name_base = settings::KernelNameBase::Demangled;
  settings.ncu_cli.force_overwrite = true;
  settings.ncu_cli.metrics = schema::CommaList{{"gpu__time_duration.sum", "dram__bytes.sum"}};
  settings.ncu_cli.sections = schema::CommaList{{"SpeedOfLight", "Occupancy"}};
  return settings;
}

TEST(NcuProfileCommand, HasTheKeysInTheirOrder) {
  const Command command = profile_command(kNcu, plain(), kCapture, workload());
  EXPECT_THAT(
      command.argv,
      ElementsAre("/opt/ncu", "--target-processes", "all", "--set", "roofline", "--replay-mode",
                  "kernel", "--metrics", "gpu__time_duration.sum,dram__bytes.sum", "--section",
                  "SpeedOfLight", "--section", "Occupancy", "-o", "/r/ncu/run", "--nvtx",
                  "--launch-count", "2000", "--log-file", "/r/ncu/ncu.log", "--force-overwrite",
                  "/bin/app", "--mode", "profiled"));
  EXPECT_EQ(command.cwd, "/r/ncu");
  EXPECT_EQ(command.log, "/r/ncu/workload/log");
  EXPECT_EQ(command.env.at("NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT"), "1");
}

TEST(NcuProfileCommand, HonoursEveryKey) {
  Ncu settings = plain();
  settings::NcuCli& cli = settings.ncu_cli;
  cli.target_processes = settings::TargetProcesses::ApplicationOnly;
  cli.replay_mode = settings::ReplayMode::AppRange;
  cli.nvtx.include = schema::SemicolonList{{"decode*", "prefill::sam"}};
  cli.set = "full";
  cli.kernel_name_base = settings::KernelNameBase::Function;
  cli.kernel_name = "regex:gemm.*";
  cli.launch_skip = 5;
  cli.launch_count = 7;
  cli.clock_control = settings::ClockControl::None;
  cli.cache_control = settings::CacheControl::None;
  cli.graph_profiling = settings::GraphProfiling::Graph;
  cli.kill = true;
  const Argv argv = argv_of(settings);
  struct Case {
    std::string_view option, value;
  };
  constexpr Case kCases[] = {
      {"--target-processes", "application-only"},
      {"--replay-mode", "app-range"},
      {"--nvtx-include", "regex:decode.*/ prefill/*/sam"},
      {"--set", "full"},
      {"--kernel-name-base", "function"},
      {"--kernel-name", "regex:gemm.*"},
      {"--launch-skip", "5"},
      {"--launch-count", "7"},
      {"--clock-control", "none"},
      {"--cache-control", "none"},
      {"--graph-profiling", "graph"},
      {"--kill", "yes"},
  };
  for (const Case& c : kCases) EXPECT_EQ(value_of(argv, c.option), c.value) << c.option;
  cli.force_overwrite = false;
  cli.kill = false;
  EXPECT_THAT(argv_of(settings), Not(Contains("--force-overwrite")));
  EXPECT_EQ(value_of(argv_of(settings), "--kill"), "no");
}

/// The options that occur in a text: `--set` in `--set <v>`.
std::set<std::string> options_in(std::string_view text) {
  std::set<std::string> options;
  for (std::size_t at = text.find("--"); at != std::string_view::npos; at = text.find("--", at)) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
    options.insert(std::string(text.substr(at, end - at)));
    at = std::min(end, text.size());
  }
  return options;
}

TEST(NcuProfileCommand, IsWhatTheTableOfFlagsSays) {
  Ncu settings = plain();
  settings::NcuCli& cli = settings.ncu_cli;
  cli.nvtx.include = schema::SemicolonList{{"decode"}};
  cli.kernel_name = "gemm";
  cli.launch_skip = 1;
  cli.launch_count = 1;
  cli.clock_control = settings::ClockControl::Base;
  cli.cache_control = settings::CacheControl::All;
  cli.graph_profiling = settings::GraphProfiling::Node;
  cli.kill = true;
  std::set<std::string> passed;
  for (const std::string& argument : argv_of(settings)) passed.merge(options_in(argument));
  for (const std::string& argument : raw_csv_command(kNcu, "r", "c").argv) {
    passed.merge(options_in(argument));
  }
  passed.erase("--mode");  // the workload's own
  std::set<std::string> documented = {"--nvtx", "--log-file"};
  for (const settings::ToolFlag& flag : settings::ncu_flags()) {
    documented.merge(options_in(flag.flag));
  }
  EXPECT_EQ(passed, documented);
}

TEST(NcuProfileCommand, PassesNothingThatIsLeftOut) {
  Ncu settings;
  EXPECT_THAT(argv_of(settings), ElementsAre("/opt/ncu", "-o", "/r/ncu/run", "--nvtx", "--log-file",
                                             "/r/ncu/ncu.log", "/bin/app", "--mode", "profiled"));
  settings.ncu_cli.set = "detailed";
  settings.ncu_cli.kernel_name = "gemm";
  EXPECT_THAT(argv_of(settings), ElementsAre("/opt/ncu", "--set", "detailed", "-o", "/r/ncu/run",
                                             "--nvtx", "--kernel-name", "gemm", "--log-file",
                                             "/r/ncu/ncu.log", "/bin/app", "--mode", "profiled"));
}

TEST(NcuProfileCommand, BoundsLaunchesInsideOfRangesToo) {
  Ncu settings = plain();
  EXPECT_EQ(launch_bound(settings), 2000U);
  settings.ncu_cli.nvtx.include = schema::SemicolonList{{"decode"}};
  EXPECT_EQ(launch_bound(settings), 2000U);
  EXPECT_EQ(value_of(argv_of(settings), "--nvtx-include"), "decode/");
  EXPECT_EQ(value_of(argv_of(settings), "--launch-count"), "2000");
  settings.gating_nvtx = false;
  EXPECT_EQ(launch_bound(settings), 2000U);
  EXPECT_EQ(value_of(argv_of(settings), "--nvtx-include"), "");
  settings.ncu_cli.kernel_name = "gemm";
  EXPECT_EQ(launch_bound(settings), std::nullopt);
  settings.ncu_cli.kill = true;
  EXPECT_EQ(launch_bound(settings), 2000U) << "kill needs a count";
  settings.ncu_cli.launch_count = 3;
  EXPECT_EQ(launch_bound(settings), 3U);
}

TEST(NcuProfileCommand, OfTheSecondTryDropsOnlyTheGate) {
  Ncu settings = plain();
  settings.ncu_cli.nvtx.include = schema::SemicolonList{{"decode"}};
  settings.ncu_cli.kernel_name = "gemm";
  Capture again = kCapture;
  again.without_gate = 200;
  Argv first = argv_of(settings);
  const auto include = std::find(first.begin(), first.end(), "--nvtx-include");
  ASSERT_NE(include, first.end());
  first.erase(include, include + 2);
  const auto log = std::find(first.begin(), first.end(), "--log-file");
  first.insert(log, {"--launch-count", "200"});
  EXPECT_EQ(argv_of(settings, again), first);
  settings.ncu_cli.launch_count = 10;
  EXPECT_EQ(value_of(argv_of(settings, again), "--launch-count"), "10");
}

TEST(NcuProfileCommand, TellsWhichOptionsThisNcuLacks) {
  Installation old = kNcu;
  old.options = {"--clock-control", "--cache-control", "--kill", "--replay-mode"};
  settings::NcuCli cli;
  EXPECT_THAT(missing_options(old, cli), IsEmpty());
  cli.clock_control = settings::ClockControl::None;
  cli.graph_profiling = settings::GraphProfiling::Node;
  cli.replay_mode = settings::ReplayMode::AppRange;
  EXPECT_THAT(missing_options(old, cli),
              ElementsAre("--graph-profiling", "--replay-mode app-range"));
  EXPECT_THAT(missing_options(kNcu, cli), IsEmpty()) << "nobody asked it";
}

TEST(NcuImport, ReadsTheReportInBaseUnits) {
  const Command raw = raw_csv_command(kNcu, "/r/run.ncu-rep", "/r/raw.csv");
  EXPECT_THAT(raw.argv, ElementsAre("/opt/ncu", "--import", "/r/run.ncu-rep", "--page", "raw",
                                    "--csv", "--print-units", "base"));
  EXPECT_EQ(raw.out, "/r/raw.csv");
  EXPECT_THAT(details_command(kNcu, "/r/run.ncu-rep", "/r/sections_report.txt").argv,
              ElementsAre("/opt/ncu", "--import", "/r/run.ncu-rep", "--page", "details"));
  EXPECT_THAT(list_sections_command(kNcu, "/r/sections.txt").argv,
              ElementsAre("/opt/ncu", "--list-sections"));
}

TEST(NcuMessages, OfACaptureCountWhatWasProfiled) {
  const Messages messages = read_messages(
      "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, "
      "profiling "
      "results may be inconsistent.\n"
      "==PROF== Connected to process 937 (/usr/bin/app)\n"
      "==PROF== Profiling \"gemm\" - 0: 0%....50%....100% - 9 passes\n"
      "==PROF== Profiling \"copy\": 0%....50%....100% - 1 pass\n"
      "==PROF== Disconnected from process 937\n");
  EXPECT_EQ(messages.connected, 1U);
  EXPECT_EQ(messages.profiled, 2U);
  EXPECT_EQ(messages.nothing_profiled, "");
  EXPECT_EQ(messages.warnings.size(), 1U);
  EXPECT_TRUE(messages.errors.empty());
}

TEST(NcuMessages, TellEachKindOfNothing) {
  EXPECT_EQ(read_messages("==WARNING== No kernels were profiled.\n").nothing_profiled, "kernels");
  EXPECT_EQ(read_messages("==WARNING== No ranges were profiled.\n").nothing_profiled, "ranges");
  EXPECT_EQ(read_messages("==WARNING== No graphs were profiled.\n").nothing_profiled, "graphs");
}

TEST(NcuMessages, OfFailuresAreRecognised) {
  const Messages denied = read_messages(
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
      "Performance Counters on the target device 0.\n");
  EXPECT_TRUE(denied.counters_denied);
  EXPECT_EQ(denied.errors.size(), 1U);

  const Messages unreachable = read_messages(
      "==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on "
      "path?).\n==ERROR== The application returned an error code (1).\n"
      "==WARNING== No kernels were profiled.\n");
  EXPECT_TRUE(unreachable.no_libcuda);
  EXPECT_EQ(unreachable.application_code, 1);

  EXPECT_TRUE(read_messages("==ERROR== './x' does not exist or is not an executable. Please make "
                            "sure to specify the absolute path to './x'.\n")
                  .program_not_found);
  EXPECT_TRUE(read_messages("==ERROR== Unable to write to file n2.ncu-rep. Please verify this file "
                            "is not locked, and writable.\n")
                  .cannot_write);
}

}  // namespace
}  // namespace profline::ncu
