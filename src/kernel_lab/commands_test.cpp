// The options passed to ncu: for every combination of flags the argv stored next to this test, each
// of them accepted by a real ncu.

#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/yaml.h"
#include "kernel_lab/capture_command.h"
#include "process/interrupt.h"
#include "process/runner.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::kernel_lab {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ncu::Installation surveyed(const fs::path& program) {
  return {
      program,
      {2024, 1, 1},
      {"SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "SchedulerStats",
       "SpeedOfLight_RooflineChart", "WarpStateStats"},
      {"roofline"},
      {"--clock-control"},
      {"dram__bytes_read", "dram__bytes_write", "gpu__time_duration",
       "sm__ops_path_tensor_src_bf16_dst_fp32", "sm__ops_path_tensor_src_fp16",
       "sm__ops_path_tensor_src_fp8_sparsity_on", "smsp__sass_thread_inst_executed_op_fadd_pred_on",
       "smsp__sass_thread_inst_executed_op_ffma_pred_on"}};
}

Result<settings::NcuCli> preset(const std::string& name) {
  const fs::path file = testing::source_dir() / "conf/profiling/ncu" / (name + ".yaml");
  return read_preset(PL_TRY(parse_yaml(PL_TRY(read_file(file)), file.string())));
}

/// A number of flags, each on or off; `bits` says which.
struct Combination {
  std::string name;
  CollectionRequest request;
  LaunchChoice choice;
};

Combination combination(unsigned bits) {
  Combination made;
  const auto flag = [&](unsigned bit, const char* name) {
    const bool is_on = (bits >> bit & 1U) != 0;
    if (is_on) made.name += std::string(made.name.empty() ? "" : " ") + name;
    return is_on;
  };
  if (flag(0, "--no-roofline")) made.request.roofline = false;
  if (flag(1, "--extra-sections")) made.request.extra_sections = {"WarpStateStats"};
  if (flag(2, "--nvtx-include")) made.request.nvtx_include = {"decode", "prefill::sam"};
  if (flag(3, "--clock-control")) made.request.clock_control = settings::ClockControl::None;
  if (flag(4, "--ncu-config")) made.request.preset = preset("ncu.default").value();
  made.choice.skip = 11;
  if (flag(5, "--sample-launches")) made.choice.invocations = {3, 7, 11};
  if (made.name.empty()) made.name = "no flags";
  return made;
}
constexpr unsigned kCombinations = 1U << 6U;

constexpr const char* kRegex = R"(^void at::native::reduce_kernel<\(int\)512, .*>\(T3\)$)";

Command command_of(unsigned bits, const fs::path& program, const fs::path& folder) {
  const Combination made = combination(bits);
  const ncu::Installation ncu = surveyed(program);
  return capture_command(ncu, capture_settings(made.request, ncu), kRegex, made.choice, folder,
                         Command{.argv = {"/bin/true", "--tokens", "64"}});
}

TEST(CaptureCommand, OfEveryCombinationOfFlagsIsTheOneThatIsKept) {
  std::string text;
  for (unsigned bits = 0; bits < kCombinations; ++bits) {
    text += "# " + combination(bits).name + "\n" + display(command_of(bits, "ncu", "out")) + "\n";
  }
  const fs::path golden = testing::source_dir() / "tests/golden/kernel_lab/argv/expected.txt";
  if (std::getenv("PROFLINE_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(create_folders(golden.parent_path()));
    ASSERT_TRUE(write_file_atomic(golden, text));
  }
  EXPECT_EQ(text, read_file(golden).value_or(""));
}

/// ncu on PATH, and those that scripts/fetch_nsight pair has unpacked.
std::vector<fs::path> real_ncus() {
  std::vector<fs::path> found;
  if (const auto program = find_program("ncu")) found.push_back(*program);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(testing::source_dir() / "build/tools", ignored)) {
    const fs::path program = entry.path() / "bin/ncu";
    if (fs::exists(program, ignored)) found.push_back(program);
  }
  return found;
}

/// What is wrong with the options; without a GPU, ncu reports that before it looks for one.
std::string complaint(const Command& command, ProcessRunner& runner) {
  const auto exit = runner.run(command);
  return exit ? exit->tail : exit.error().to_string();
}

bool is_refusal(const std::string& said) {
  for (const char* words : {"unrecognised option", "cannot be specified more than once",
                            "is invalid", "Invalid", "did not match any section", "--help"}) {
    if (said.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST(CaptureCommand, IsTakenByARealNcu) {
  const std::vector<fs::path> programs = real_ncus();
  if (programs.empty()) {
    GTEST_SKIP() << "no ncu on PATH (scripts/fetch_nsight pair gets one for tests)";
  }
  Interrupt interrupt;
  PosixRunner runner(interrupt);
  const testing::TempDir folder;
  for (const fs::path& program : programs) {
    // Any two flags are together in one of these, and separate in another.
    for (const unsigned bits : {0U, 0b000111U, 0b011001U, 0b101010U, 0b110100U, 0b111111U}) {
      Command command = command_of(bits, program, folder.path());
      const auto log = std::find(command.argv.begin(), command.argv.end(), "--log-file");
      *(log + 1) = "stdout";
      command.log.clear();
      const std::string said = complaint(command, runner);
      EXPECT_FALSE(is_refusal(said)) << display(command) << "\n" << said;
    }
    // The check can fail.
    Command wrong = command_of(0, program, folder.path());
    wrong.argv.insert(wrong.argv.begin() + 1, "--no-such-option");
    wrong.log.clear();
    const auto log = std::find(wrong.argv.begin(), wrong.argv.end(), "--log-file");
    *(log + 1) = "stdout";
    EXPECT_TRUE(is_refusal(complaint(wrong, runner)));
  }
}

TEST(CaptureCommand, OfSeveralKernelsTogetherIsTakenByARealNcu) {
  const std::vector<fs::path> programs = real_ncus();
  if (programs.empty()) {
    GTEST_SKIP() << "no ncu on PATH (scripts/fetch_nsight pair gets one for tests)";
  }
  const std::vector<WantedKernel> kernels = {{"a", R"(^at::native::a<\(int\)2>$)", ""},
                                             {"b", "(?:gemm|gemv)::b", ""}};
  LaunchChoice choice;
  choice.count = 4;
  Interrupt interrupt;
  PosixRunner runner(interrupt);
  for (const fs::path& program : programs) {
    const ncu::Installation ncu = surveyed(program);
    Command command = capture_command(ncu, capture_settings({}, ncu), any_of(kernels), choice,
                                      testing::TempDir().path(), Command{.argv = {"/bin/true"}});
    const auto log = std::find(command.argv.begin(), command.argv.end(), "--log-file");
    *(log + 1) = "stdout";
    command.log.clear();
    const std::string said = complaint(command, runner);
    EXPECT_FALSE(is_refusal(said)) << display(command) << "\n" << said;
  }
}

TEST(KernelId, WritesColonsAsNcuTakesThem) {
  const std::vector<std::uint32_t> launches = {2, 5};
  EXPECT_EQ(kernel_id("gemm", launches), "::regex:gemm:^(2|5)$");
  EXPECT_EQ(kernel_id("at::native", launches), R"(::regex:at\x3a\x3anative:^(2|5)$)");
  EXPECT_EQ(kernel_id(R"(a\:b\\:c)", launches), R"(::regex:a\x3ab\\\x3ac:^(2|5)$)");
  EXPECT_EQ(kernel_id("[[:alpha:]]", launches), std::nullopt);
}

TEST(KernelId, WritesGroupsWithoutAColon) {
  const std::vector<std::uint32_t> launches = {2, 5};
  EXPECT_EQ(kernel_id(R"((?:^a::b$)|(?:c\(?:d))", launches),
            R"(::regex:(^a\x3a\x3ab$)|(c\(?\x3ad):^(2|5)$)");
  EXPECT_EQ(kernel_id(R"((?:a|b)(c)\1)", launches), std::nullopt);
  EXPECT_EQ(kernel_id(R"((c)\1)", launches), R"(::regex:(c)\1:^(2|5)$)");
  EXPECT_EQ(kernel_id("(?i:gemm)", launches), std::nullopt);
  EXPECT_EQ(kernel_id("(?i-s:gemm)", launches), std::nullopt);
  EXPECT_EQ(kernel_id("(?=a)b::c", launches), R"(::regex:(?=a)b\x3a\x3ac:^(2|5)$)");
}

TEST(Collection, AddsWhatARooflineNeedsOfWhatThisNcuHas) {
  EXPECT_THAT(
      roofline_counters(surveyed("ncu")),
      ElementsAre("gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
                  "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
                  "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                  "sm__ops_path_tensor_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_fp16.sum"));
}

TEST(Collection, WithoutARooflineIsTheFourSections) {
  const settings::Ncu settings = capture_settings({.roofline = false}, surveyed("ncu"));
  EXPECT_THAT(settings.ncu_cli.sections->items,
              ElementsAre("SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "SchedulerStats"));
  EXPECT_EQ(settings.ncu_cli.metrics, std::nullopt);
  EXPECT_EQ(settings.ncu_cli.set, std::nullopt);
}

TEST(Collection, TakesAPresetAsItIsWritten) {
  const CollectionRequest request{.preset =
                                      read_preset(parse_yaml("set: full\n", "p").value()).value()};
  const Command command =
      capture_command(surveyed("ncu"), capture_settings(request, surveyed("ncu")), "gemm", {},
                      "out", Command{.argv = {"/bin/true"}});
  EXPECT_THAT(command.argv,
              ElementsAre("ncu", "--set", "full", "-o", "out/ncu", "--nvtx", "--kernel-name-base",
                          "demangled", "--kernel-name", "regex:gemm", "--launch-skip", "0",
                          "--launch-count", "1", "--log-file", "out/ncu.log", "--force-overwrite",
                          "/bin/true"));
  CollectionRequest with_roofline = request;
  with_roofline.roofline = true;
  const settings::Ncu settings = capture_settings(with_roofline, surveyed("ncu"));
  EXPECT_THAT(settings.ncu_cli.sections->items, ElementsAre("SpeedOfLight_RooflineChart"));
  EXPECT_EQ(settings.ncu_cli.metrics->items, roofline_counters(surveyed("ncu")));
}

TEST(Collection, TakesRangesInPlaceOfThePresets) {
  CollectionRequest request{.preset = preset("ncu.default").value()};
  EXPECT_EQ(capture_settings(request, surveyed("ncu")).ncu_cli.nvtx.include,
            schema::SemicolonList{{"decode"}});
  request.nvtx_include = {"prefill", "lm"};
  EXPECT_EQ(capture_settings(request, surveyed("ncu")).ncu_cli.nvtx.include,
            (schema::SemicolonList{{"prefill", "lm"}}));
  request.nvtx_include = {""};
  EXPECT_EQ(capture_settings(request, surveyed("ncu")).ncu_cli.nvtx.include, std::nullopt);
}

TEST(Preset, LeavesOutWhatItDoesNotName) {
  const auto cli = read_preset(parse_yaml("set: full\n", "p").value());
  ASSERT_TRUE(cli) << cli.error().to_string();
  settings::NcuCli only_a_set;
  only_a_set.set = "full";
  EXPECT_EQ(*cli, only_a_set);
  for (const char* name : {"ncu.default", "ncu.high", "ncu.h200", "ncu.rtx3090",
                           "ncu.rtx3090.compute", "ncu.rtx3090.memory"}) {
    EXPECT_TRUE(preset(name)) << name;
  }
}

TEST(Preset, MayNotSayWhichLaunches) {
  struct Case {
    std::string_view yaml, message;
  };
  constexpr Case kCases[] = {
      {"ncu_cli:\n  launch_skip: 3\n",
       "p:2:16: launch_skip: must be null, because --kernel-config, --kernel-regex and "
       "--num-kernel-call-* say which launches"},
      {"replay_mode: range\n",
       "p:1:14: replay_mode: must be kernel or application; ranges are profiled by 'profline run' "
       "with pipeline.ncu"},
      {"kernel_name_base: function\n",
       "p:1:19: kernel_name_base: must be demangled or null, because --kernel-config and "
       "--kernel-regex are compared with demangled names"},
      {"sets: full\n", "p:1:1: unknown key 'sets' (did you mean 'set'?)"},
  };
  for (const Case& c : kCases) {
    const auto cli = read_preset(parse_yaml(c.yaml, "p").value());
    ASSERT_FALSE(cli) << c.yaml;
    EXPECT_EQ(cli.error().to_string(), c.message);
  }
}

TEST(Preset, IsAFileOrAShippedOne) {
  const testing::TempDir folder;
  EXPECT_EQ(load_preset("ncu.h200", folder.path()).value(), preset("ncu.h200").value());
  ASSERT_TRUE(write_file_atomic(folder / "ncu.h200", "ncu_cli: {set: roofline}"));
  EXPECT_EQ(load_preset("ncu.h200", folder.path()).value().set, "roofline");  // a file wins
  const auto missing = load_preset("ncu.h2000", folder.path());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().to_string(),
            "cannot read " + (folder / "ncu.h2000").string() + ": no such file");
}

TEST(LeftOut, IsWhatThisNcuDoesNotHave) {
  settings::NcuCli cli;
  cli.sections = schema::TextList<','>{{"SpeedOfLight", "Sorcery"}};
  cli.metrics = schema::TextList<','>{{"sm__magic.sum"}};
  EXPECT_THAT(left_out(surveyed("ncu"), cli).value(),
              ElementsAre("ncu 2024.1.1 has no section Sorcery: left out",
                          "ncu 2024.1.1 does not know the counter sm__magic.sum on this GPU: left "
                          "out"));
  cli.sections = schema::TextList<','>{{"Sorcery"}};
  const auto nothing = left_out(surveyed("ncu"), cli);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().to_string(),
            "ncu 2024.1.1 knows none of the requested sections and counters: Sorcery, "
            "sm__magic.sum");
}

TEST(Exports, AreATableASectionAndTheCounters) {
  const ncu::Installation ncu = surveyed("ncu");
  const settings::Ncu settings = capture_settings({}, ncu);
  std::vector<std::string> files;
  for (const Export& table : export_commands(ncu, settings, "r.ncu-rep", "d", "a|b")) {
    files.push_back(table.file.string());
    EXPECT_THAT(display(table.command), HasSubstr("--kernel-name-base demangled --kernel-name "
                                                  "'regex:a|b'"));
  }
  EXPECT_THAT(
      files, ElementsAre("d/ncu.metrics.csv", "d/ncu.details.csv", "d/ncu.section_SpeedOfLight.csv",
                         "d/ncu.section_MemoryWorkloadAnalysis.csv", "d/ncu.section_Occupancy.csv",
                         "d/ncu.section_SchedulerStats.csv",
                         "d/ncu.section_SpeedOfLight_RooflineChart.csv"));
  const Command counters = export_commands(ncu, settings, "r.ncu-rep", "d", {}).front().command;
  EXPECT_THAT(counters.argv, ElementsAre("ncu", "--import", "r.ncu-rep", "--csv", "--print-units",
                                         "base", "--page", "raw"));
}

TEST(CountingCommand, CollectsOneCounterOfEveryLaunch) {
  const ncu::Installation ncu = surveyed("ncu");
  const settings::Ncu settings = capture_settings({.nvtx_include = {"decode"}}, ncu);
  const Command command =
      counting_command(ncu, settings, "a|b", "count/launches.csv", {.argv = {"/bin/true"}});
  EXPECT_EQ(display(command),
            "env NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT=1 ncu --target-processes all "
            "--replay-mode kernel --metrics gpu__time_duration.sum --nvtx --kernel-name-base "
            "demangled --kernel-name 'regex:a|b' --csv --page raw --print-units base --log-file "
            "count/launches.csv --force-overwrite /bin/true");
}

}  // namespace
}  // namespace profline::kernel_lab
