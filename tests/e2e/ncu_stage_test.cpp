// The ncu stage with the real Nsight Compute, on a machine without a GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "nsight_tools.h"
#include "started_profline.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class NcuStageRun : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    tools_ = nsight_tools(why);
    if (!tools_) GTEST_SKIP() << why;
    runner_.emplace(*tools_, "ncu");
  }
  /// With Debian's libcuda, which loads and finds no GPU.
  NsightRun run(std::vector<std::string> overrides,
                const std::function<bool(const NsightRun&)>& is_good) {
    overrides.insert(overrides.begin(),
                     {"pipeline.ncu.enable=true", "pipeline.ncu.require_gpu=false"});
    return runner_->run(overrides, is_good, true);
  }

  std::optional<NsightTools> tools_;
  std::optional<NsightRunner> runner_;
};

std::vector<std::string> command_names(const NsightRun& run) {
  std::vector<std::string> names;
  if (!run.stage) return names;
  for (const CommandRecord& command : run.stage->commands) names.push_back(command.name);
  return names;
}

TEST_F(NcuStageRun, ExplainsThatNoKernelsWereProfiledAndTriesAgainOnce) {
  if (!has_workload()) GTEST_SKIP() << "profline-workload is not built here";
  const NsightRun made = run({"pipeline.ncu.budget_s=null"}, [](const NsightRun& it) {
    return it.has_finding("nothing_profiled");
  });
  EXPECT_EQ(made.outcome.code, 1);
  ASSERT_TRUE(made.stage) << made.outcome.err;
  EXPECT_THAT(command_names(made), ElementsAre("list_sections", "capture", "rerun"));
  std::vector<std::string> texts;
  for (const Finding& finding : made.stage->findings) {
    if (finding.code == "nothing_profiled") texts.push_back(finding.text);
  }
  EXPECT_THAT(texts, ElementsAre("no kernels were profiled: the workload runs on the CPU and "
                                 "launches none (device=cpu)",
                                 "no kernels were profiled without the gate either: the workload "
                                 "runs on the CPU and launches none (device=cpu)"));
  const std::string first = read_file(made.folder / "ncu/cmd.txt").value_or("");
  const std::string second = read_file(made.folder / "ncu/cmd-rerun.txt").value_or("");
  EXPECT_THAT(first, HasSubstr(" --nvtx-include decode/ "));
  EXPECT_THAT(second, Not(HasSubstr("--nvtx-include")));
  EXPECT_THAT(second, HasSubstr(" --launch-count 200 "));
  EXPECT_THAT(read_file(made.folder / "ncu/sections.txt").value_or(""), HasSubstr("SpeedOfLight"));
  EXPECT_TRUE(std::filesystem::exists(made.folder / "ncu/workload/requests.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(made.folder / "nsys")) << "works without nsys";
}

TEST_F(NcuStageRun, WithoutAGateStopsAfterTheFirstTry) {
  const NsightRun made =
      run({"pipeline.workload.command=[/bin/true]", "pipeline.ncu.ncu_cli.nvtx.include=null"},
          [](const NsightRun& it) { return it.has_finding("nothing_profiled"); });
  EXPECT_EQ(made.outcome.code, 1);
  EXPECT_THAT(command_names(made), ElementsAre("list_sections", "capture"));
  const Finding* finding = made.finding("nothing_profiled");
  ASSERT_NE(finding, nullptr) << made.outcome.err;
  EXPECT_EQ(finding->text, "no kernels were profiled: the workload never used CUDA");
}

TEST_F(NcuStageRun, RangeReplayWithoutARangeIsRecognised) {
  const NsightRun made =
      run({"pipeline.workload.command=[/bin/true]", "pipeline.ncu.ncu_cli.replay_mode=range",
           "pipeline.ncu.ncu_cli.nvtx.include=null"},
          [](const NsightRun& it) { return it.has_finding("nothing_profiled"); });
  const Finding* finding = made.finding("nothing_profiled");
  ASSERT_NE(finding, nullptr) << made.outcome.err;
  EXPECT_EQ(finding->text, "no ranges were profiled: the workload never used CUDA");
}

TEST_F(NcuStageRun, AFailureOfTheProgramIsReported) {
  const NsightRun made =
      run({"pipeline.workload.command=[sh,-c,'exit 5']"},
          [](const NsightRun& it) { return it.has_finding("application_failed"); });
  EXPECT_EQ(made.outcome.code, 1);
  const Finding* finding = made.finding("application_failed");
  ASSERT_NE(finding, nullptr) << made.outcome.err;
  EXPECT_THAT(finding->text, StartsWith("the workload ended with code 5 under ncu"));
}

/// A program that kills the profiler it runs under, and would itself run for long.
constexpr const char* kKillsProfiler =
    "for p in /proc/[0-9]*; do\n"
    "  if tr '\\0' ' ' <$p/cmdline 2>/dev/null | grep -q \"ncu .*$PROFLINE_RUN_DIR/ncu/run \"; "
    "then\n"
    "    kill -KILL ${p#/proc/}\n"
    "  fi\n"
    "done\n"
    "exec sleep 9$$.5\n";

TEST_F(NcuStageRun, WhenNcuIsKilledNothingStaysBehind) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"killer.sh", kKillsProfiler}});
  const NsightRun made =
      run({"pipeline.workload.command=[sh," + (folder / "killer.sh").string() + "]"},
          [](const NsightRun& it) { return it.has_finding("tool_killed"); });
  EXPECT_EQ(made.outcome.code, 1);
  const Finding* finding = made.finding("tool_killed");
  ASSERT_NE(finding, nullptr) << made.outcome.err;
  EXPECT_THAT(finding->text, StartsWith("capture (ncu) killed by SIGKILL"));
  EXPECT_THAT(processes_of(made.folder), IsEmpty());
  EXPECT_THAT(processes_naming((folder / "killer.sh").string()), IsEmpty());
}

TEST_F(NcuStageRun, WithoutLibcudaOrAGpuIsRefusedBeforeAnythingRuns) {
  struct Case {
    bool with_driver;
    std::string_view text;
  };
  constexpr Case kCases[] = {
      {false, "ncu ends every program on a machine without libcuda.so.1"},
      {true, "ncu profiles kernels of a GPU"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    const testing::TempDir folder;
    Command base = tools_->environment(c.with_driver);
    base.cwd = folder.path();
    const Outcome outcome = run_profline(
        {"run", "--config-name", "demo", "device=cpu", "pipeline.ncu.enable=true",
         "pipeline.nsys.enable=false", "pipeline.workload.command=[/bin/true]",
         "pipeline.torch_profiler.enable=false", "pipeline.static_analysis.enable=false"},
        base);
    if (outcome.code == 0) GTEST_SKIP() << "this machine has a GPU";
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(c.text));
    EXPECT_FALSE(std::filesystem::exists(folder / "tmp")) << "no run folder";
  }
}

}  // namespace
}  // namespace profline::e2e
