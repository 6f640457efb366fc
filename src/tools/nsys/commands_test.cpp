#include "tools/nsys/commands.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "settings/reference.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::nsys {
namespace {

using settings::CaptureRange;
using settings::CaptureRangeEnd;
using settings::Nsys;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using Argv = std::vector<std::string>;

const Installation kNsys{"/opt/nsys", {2023, 4, 4}};
const Capture kCapture{.session = "profline-r", .output = "/r/nsys/run"};

Command workload() {
  Command command{.argv = {"/bin/app", "--mode", "profiled"}};
  command.env = {{"PROFLINE_RUN_DIR", "/r"}};
  command.cwd = "/r/nsys";
  command.log = "/r/nsys/workload/log";
  return command;
}

Argv argv_of(const Nsys& options, const Capture& capture = kCapture) {
  return profile_command(kNsys, options, capture, workload()).argv;
}

/// As in conf/profiling/nsys/nsys.default.yaml.
Nsys preset() {
  Nsys options;
  options.trace = schema::CommaList{{"cuda", "nvtx", "osrt"}};
  options.sample = settings::CpuSampling::None;
  options.capture_range_end = CaptureRangeEnd{};
  options.nvtx_capture = schema::OneOrMore{{"prefill"}};
  return options;
}

Nsys gated() {
  Nsys options = preset();
  options.capture_range = CaptureRange::Nvtx;
  return options;
}

TEST(NsysProfileCommand, OfThePresetCapturesEverything) {
  const Command command = profile_command(kNsys, preset(), kCapture, workload());
  EXPECT_THAT(command.argv, ElementsAre("/opt/nsys", "profile", "--session-new=profline-r",
                                        "--trace=cuda,nvtx,osrt", "--sample=none",
                                        "--cpuctxsw=none", "--force-overwrite=true", "-o",
                                        "/r/nsys/run", "/bin/app", "--mode", "profiled"));
  EXPECT_EQ(command.env, workload().env);
  EXPECT_EQ(command.cwd, workload().cwd);
  EXPECT_EQ(command.log, workload().log);
}

TEST(NsysProfileCommand, PassesNothingThatIsLeftOut) {
  EXPECT_THAT(argv_of(Nsys()), ElementsAre("/opt/nsys", "profile", "--session-new=profline-r",
                                           "--force-overwrite=true", "-o", "/r/nsys/run",
                                           "/bin/app", "--mode", "profiled"));
  Nsys options;
  options.capture_range = CaptureRange::Nvtx;
  options.nvtx_capture = schema::OneOrMore{{"decode"}};
  EXPECT_THAT(argv_of(options), Not(Contains(StartsWith("--capture-range-end"))));
}

TEST(NsysProfileCommand, GatedOnARangeNamesItAndSeesPlainStrings) {
  Capture capture = kCapture;
  capture.range = "decode@*";
  const Command command = profile_command(kNsys, gated(), capture, workload());
  EXPECT_THAT(command.argv, IsSupersetOf({"--capture-range=nvtx", "--capture-range-end=stop",
                                          "--nvtx-capture=decode@*"}));
  EXPECT_EQ(command.env.at("NSYS_NVTX_PROFILER_REGISTER_ONLY"), "0");
}

TEST(NsysProfileCommand, PassesTheRangesEndOnlyWhenItIsSet) {
  Nsys options = gated();
  options.capture_range_end.reset();
  EXPECT_THAT(argv_of(options), Not(Contains(StartsWith("--capture-range-end"))));
  options.capture_range_end = CaptureRangeEnd{CaptureRangeEnd::Action::Repeat, 2};
  EXPECT_THAT(argv_of(options), Contains("--capture-range-end=repeat:2"));
  options.capture_range = CaptureRange::None;
  EXPECT_THAT(argv_of(options), Not(Contains(StartsWith("--capture-range-end"))));
}

TEST(NsysProfileCommand, WithGatingOffDropsTheNvtxGateAndNoOther) {
  struct Case {
    CaptureRange range;
    std::string_view passed;
  };
  constexpr Case kCases[] = {
      {CaptureRange::Nvtx, ""},
      {CaptureRange::CudaProfilerApi, "--capture-range=cudaProfilerApi"},
      {CaptureRange::Hotkey, "--capture-range=hotkey"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.passed);
    Nsys options;
    options.capture_range = c.range;
    options.gating_nvtx = false;
    const Command command = profile_command(kNsys, options, kCapture, workload());
    EXPECT_THAT(command.argv, Not(Contains(StartsWith("--nvtx-capture"))));
    EXPECT_EQ(command.env.count("NSYS_NVTX_PROFILER_REGISTER_ONLY"), 0U);
    if (c.passed.empty()) {
      EXPECT_THAT(command.argv, Not(Contains(StartsWith("--capture-range"))));
    } else {
      EXPECT_THAT(command.argv, Contains(c.passed));
    }
    EXPECT_THAT(gated_ranges(options), IsEmpty());
  }
}

TEST(NsysProfileCommand, PassesEveryOtherKey) {
  Nsys options;
  options.trace = schema::CommaList{{"cuda", "nvtx"}};
  options.sample = settings::CpuSampling::ProcessTree;
  options.nvtx_domain_include = schema::CommaList{{"default", "llm"}};
  options.cuda_graph_trace = settings::GraphTrace::Node;
  EXPECT_THAT(argv_of(options),
              IsSupersetOf({"--trace=cuda,nvtx", "--sample=process-tree",
                            "--nvtx-domain-include=default,llm", "--cuda-graph-trace=node"}));
  EXPECT_THAT(argv_of(options), Not(Contains("--cpuctxsw=none")));
  options.nvtx_domain_exclude = schema::CommaList{{"NCCL"}};
  EXPECT_THAT(argv_of(options), Contains("--nvtx-domain-exclude=NCCL"));
}

/// The options that occur in a text: `--trace` in `--trace=<v>,<v>`.
std::set<std::string> options_in(std::string_view text) {
  std::set<std::string> options;
  for (std::size_t at = text.find("--"); at != std::string_view::npos; at = text.find("--", at)) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
    options.insert(std::string(text.substr(at, end - at)));
    at = std::min(end, text.size());
  }
  return options;
}

TEST(NsysProfileCommand, IsWhatTheTableOfFlagsSays) {
  Nsys options = gated();
  options.nvtx_domain_include = schema::CommaList{{"a"}};
  options.nvtx_domain_exclude = schema::CommaList{{"b"}};
  options.cuda_graph_trace = settings::GraphTrace::Graph;
  options.gpu_metrics = true;
  options.gpu_metrics_frequency = 10'000;
  std::set<std::string> passed;
  for (const std::string& argument : argv_of(options)) passed.merge(options_in(argument));
  std::set<std::string> documented = {"--session-new", "--force-overwrite"};
  for (const settings::ToolFlag& flag : settings::nsys_flags()) {
    documented.merge(options_in(flag.flag));
  }
  passed.erase("--mode");  // the workload's own
  EXPECT_EQ(passed, documented);
}

TEST(NsysProfileCommand, TellsWhichOptionsThisNsysLacks) {
  Installation old = kNsys;
  Nsys options = gated();
  options.cuda_graph_trace = settings::GraphTrace::Node;
  EXPECT_THAT(missing_options(old, options), IsEmpty()) << "nobody asked it";
  old.options = {"--capture-range", "--nvtx-capture", "--trace"};
  EXPECT_THAT(missing_options(old, options),
              ElementsAre("--capture-range-end", "--cuda-graph-trace"));
}

TEST(NsysSession, HasANameOfItsOwnThatNsysTakes) {
  const std::string name = session_name("/a/20261115-101010", "");
  EXPECT_THAT(name, StartsWith("profline-20261115-101010-"));
  EXPECT_EQ(name.size(), std::string_view("profline-20261115-101010-").size() + 8);
  EXPECT_NE(name, session_name("/b/20261115-101010", ""));
  EXPECT_EQ(session_name("/a/20261115-101010", "de code@*"), name + "-de_code__");
}

TEST(NsysSession, IsStoppedWithAReport) {
  const Command command = stop_command("/opt/nsys", "profline-r");
  EXPECT_THAT(command.argv, ElementsAre("/opt/nsys", "stop", "--session=profline-r"));
  EXPECT_TRUE(command.timeout);
}

TEST(NsysSession, IsShutDownWithAllThatRunsInIt) {
  const Command command = shutdown_command("/opt/nsys", "profline-r");
  EXPECT_THAT(command.argv,
              ElementsAre("/opt/nsys", "shutdown", "--session=profline-r", "--kill=sigterm"));
  EXPECT_TRUE(command.timeout);
}

TEST(NsysStats, AsksForTheReportThatThisReleaseHas) {
  Installation nsys = kNsys;
  EXPECT_EQ(nsys.kernel_summary_report(), "cuda_gpu_kern_sum");
  nsys.version = {};
  EXPECT_EQ(nsys.kernel_summary_report(), "cuda_gpu_kern_sum");
  nsys.version = {2022, 4, 2};
  EXPECT_EQ(nsys.kernel_summary_report(), "gpukernsum");
  nsys.reports = {"cuda_gpu_kern_sum", "gpukernsum"};
  EXPECT_EQ(nsys.kernel_summary_report(), "cuda_gpu_kern_sum");
  nsys.reports = {"apigpusum", "gpukernsum"};
  const Command command = kernel_summary_command(nsys, "/r/run.sqlite", "/r/summary.csv");
  EXPECT_THAT(command.argv, ElementsAre("/opt/nsys", "stats", "--quiet", "--report", "gpukernsum",
                                        "--format", "csv", "/r/run.sqlite"));
  EXPECT_EQ(command.out, "/r/summary.csv");
}

TEST(NsysExport, AsksForSqliteAndKeepsIntermediatesBesideIt) {
  const Command command = export_command("/opt/nsys", "run.nsys-rep", "/tmp/x/run.sqlite");
  EXPECT_EQ(command.argv, (std::vector<std::string>{"/opt/nsys", "export", "--type=sqlite",
                                                    "--quiet=true", "--force-overwrite=true",
                                                    "--output=/tmp/x/run.sqlite", "run.nsys-rep"}));
  EXPECT_EQ(command.env.at("TMPDIR"), "/tmp/x");
}

TEST(NsysExport, CountsTheFileAndNotTheExitCode) {
  const testing::TempDir folder;
  const auto sqlite = folder / "run.sqlite";
  testing::FakeProcesses processes;
  processes.expect({"nsys", "export"}).writes(sqlite, "SQLite format 3");
  EXPECT_TRUE(export_sqlite(processes, "nsys", "run.nsys-rep", sqlite));

  std::filesystem::remove(sqlite);
  processes.expect({"nsys", "export"}).complains("Failed to open report\n");
  const Result<void> nothing = export_sqlite(processes, "nsys", "run.nsys-rep", sqlite);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().to_string(),
            "nsys export of run.nsys-rep exited with code 0 and left no SQLite file: Failed to "
            "open report");
  EXPECT_EQ(nothing.error().kind(), ErrorKind::Tool);

  processes.expect({"nsys", "export"}).exits(1);
  EXPECT_EQ(export_sqlite(processes, "nsys", "run.nsys-rep", sqlite).error().to_string(),
            "nsys export of run.nsys-rep exited with code 1");
}

TEST(NsysCommand, SamplesMetricsInTheSpellingOfTheRelease) {
  settings::Nsys options;
  options.gpu_metrics = true;
  options.gpu_metrics_frequency = 20'000;
  const Command workload{.argv = {"app"}};
  const Capture capture{.session = "s", .output = "o"};
  Installation nsys{"nsys", {2025, 3, 1}};
  nsys.options = {"--trace", "--gpu-metrics-devices", "--gpu-metrics-frequency"};
  EXPECT_THAT(profile_command(nsys, options, capture, workload).argv,
              IsSupersetOf({"--gpu-metrics-devices=all", "--gpu-metrics-frequency=20000"}));
  nsys.options = {"--trace", "--gpu-metrics-device", "--gpu-metrics-frequency"};
  const Command older = profile_command(nsys, options, capture, workload);
  EXPECT_THAT(older.argv, IsSupersetOf({"--gpu-metrics-device=all"}));
  EXPECT_THAT(missing_options(nsys, options), IsEmpty());
  EXPECT_THAT(without_metrics(older).argv, Not(Contains(::testing::StartsWith("--gpu-metrics"))));
  nsys.options = {"--trace"};
  EXPECT_THAT(missing_options(nsys, options), Contains("--gpu-metrics-devices"));
}

}  // namespace
}  // namespace profline::nsys
