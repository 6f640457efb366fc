#include "stages/ncu/internal/counter_plan.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"
#include "stages/ncu/ncu_stage.h"
#include "testing/paths.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::stages::internal {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// After the other stages of the recorded run of the eager engine.
class CounterPlans : public ::testing::Test {
 protected:
  CounterPlans() {
    std::filesystem::copy(testing::source_dir() / "docs/examples/h200", folder_.path(),
                          std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(folder_ / "ncu");
    EXPECT_TRUE(create_folders(folder_ / "ncu"));
    setup_.id = "run";
    setup_.folder = folder_.path();
    setup_.cwd = folder_.path();
    setup_.config = Node::map({});
    setup_.settings.pipeline.workload.command = {"/bin/true"};
    settings::Ncu& own = setup_.settings.pipeline.ncu;
    own.budget_s = 120;
    own.max_launches = 2000;
    own.ncu_cli.target_processes = settings::TargetProcesses::All;
    own.ncu_cli.set = "roofline";
    own.ncu_cli.sections = schema::CommaList{
        {"SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "SchedulerStats"}};
    own.ncu_cli.nvtx.include = schema::SemicolonList{{"sam"}};
    tools_.ncu = ncu::Installation{"/opt/ncu", {2024, 1, 1}};
    tools_.driver = gpu::Driver{};
  }
  CounterPlan plan(bool user_names_ranges = false) {
    return plan_counters({setup_, tools_}, user_names_ranges, false);
  }
  std::filesystem::path file(const std::string& name) { return folder_ / ("ncu/" + name); }

  testing::TempDir folder_;
  pipeline::RunSetup setup_;
  pipeline::Toolbox tools_;
};

TEST_F(CounterPlans, ChooseLaunchesOfTheLongestPhase) {
  const CounterPlan counters = plan();
  EXPECT_EQ(counters.gate, "decode");
  EXPECT_EQ(counters.source, "nsys/run.sqlite");
  EXPECT_EQ(counters.why, "");
  EXPECT_GT(counters.skip, 400U) << "not the first token";
  EXPECT_LT(counters.count, 60U);
  EXPECT_GE(counters.expected_coverage.value_or(0), 0.9);
  EXPECT_LE(counters.expected_s, 120);
  EXPECT_EQ(counters.passes, 18U);
  const settings::Ncu carried_out = with_plan(setup_.settings.pipeline.ncu, counters);
  EXPECT_EQ(carried_out.ncu_cli.launch_count, counters.count);
  EXPECT_EQ(carried_out.ncu_cli.launch_skip, counters.skip);
  EXPECT_EQ(carried_out.ncu_cli.nvtx.include->items, std::vector<std::string>{"decode"});
  EXPECT_THAT(plan_words(counters),
              AllOf(HasSubstr("inside decode, after the first "), HasSubstr("with all sections"),
                    HasSubstr("of the kernel time, in about "), HasSubstr("of 120 s")));
}

TEST_F(CounterPlans, OfEverythingKeepToTheRequestsThatNcuRuns) {
  setup_.settings.pipeline.workload.command.reset();
  setup_.settings.pipeline.ncu.gating_nvtx = false;
  setup_.settings.pipeline.nsys.samples = 1;
  setup_.settings.pipeline.ncu.samples = 1;
  const CounterPlan all = plan();
  EXPECT_EQ(all.gate, "");
  setup_.settings.pipeline.nsys.samples = 8;
  const CounterPlan counters = plan();
  EXPECT_EQ(counters.launches, all.launches / 8);
  EXPECT_LE(counters.skip + counters.count, counters.launches);
}

TEST_F(CounterPlans, KeepToTheUsersRange) {
  setup_.settings.pipeline.ncu.ncu_cli.nvtx.include = schema::SemicolonList{{"decode"}};
  EXPECT_EQ(plan(true).gate, "decode");
  setup_.settings.pipeline.ncu.ncu_cli.nvtx.include = schema::SemicolonList{{"decode", "lm"}};
  const CounterPlan several = plan(true);
  EXPECT_EQ(several.gate, "");
  EXPECT_THAT(several.why, HasSubstr("in one range"));
  EXPECT_GT(several.count, 100U) << "what fits into the time";
  EXPECT_LT(several.count, 200U);
}

TEST_F(CounterPlans, TakeKernelsFromKinetoWithoutNsys) {
  std::filesystem::remove_all(folder_ / "nsys");
  const CounterPlan counters = plan();
  EXPECT_EQ(counters.source, "torch_profiler/trace.json.gz");
  EXPECT_GE(counters.expected_coverage.value_or(0), 0.6);
  std::filesystem::remove_all(folder_ / "torch_profiler");
  const CounterPlan nothing = plan();
  EXPECT_EQ(nothing.gate, "decode");
  EXPECT_EQ(nothing.why, "neither nsys nor the torch profiler captured kernels in decode");
  EXPECT_GT(nothing.count, 100U);
  EXPECT_FALSE(nothing.expected_coverage);
}

TEST(InstancesUnderNcu, AreThoseOfTheRequestsThatItRuns) {
  settings::Root settings;
  settings.pipeline.nsys.samples = 8;
  settings.pipeline.ncu.samples = 1;
  EXPECT_EQ(instances_under_ncu(settings, 8, 20), 1U);
  EXPECT_EQ(instances_under_ncu(settings, 16, 20), 2U) << "the gate opens twice per request";
  EXPECT_EQ(instances_under_ncu(settings, 1, 20), 1U) << "nsys captured the first of them only";
  EXPECT_EQ(instances_under_ncu(settings, 0, 20), 0U);
  settings.pipeline.ncu.samples = 8;
  EXPECT_EQ(instances_under_ncu(settings, 8, 20), 8U);
  settings.pipeline.nsys.samples.reset();
  settings::SyntheticPages pages;
  pages.sampling.num_samples_per_epoch = 20;
  settings.dataset.images = pages;
  EXPECT_EQ(instances_under_ncu(settings, 20, 20), 8U) << "nsys runs all requests";
  settings.pipeline.workload.command = {"/bin/true"};
  EXPECT_EQ(instances_under_ncu(settings, 20, 20), 20U) << "a program runs what it runs";
}

TEST_F(CounterPlans, NeverCountLoadingIfTheGateLetsNothingThrough) {
  testing::FakeProcesses processes;
  testing::RecordedStageRun run{processes};
  const NcuStage stage;
  const pipeline::StageContext context{setup_, tools_};
  processes.expect({"/opt/ncu", "--list-sections"}).prints("SpeedOfLight\n");
  processes.expect({"/opt/ncu", "--target-processes"})
      .writes(file("ncu.log"),
              "==PROF== Connected to process 937 (/usr/bin/app)\n"
              "==WARNING== No kernels were profiled.\n");
  const auto ran = stage.run(context, stage.plan(context), run);
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_THAT(run.names(), ElementsAre("list_sections", "capture"));
  const auto findings = stage.verify(context, run::Run::with_record(setup_.folder, {}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "nothing_profiled");
  EXPECT_THAT(findings[0].text,
              AllOf(HasSubstr("in the ranges decode/"), HasSubstr("there are no more than the ")));
}

TEST_F(CounterPlans, AreStoppedFarBeyondTheirBudget) {
  testing::FakeProcesses processes;
  testing::RecordedStageRun run{processes};
  const NcuStage stage;
  const pipeline::StageContext context{setup_, tools_};
  const CounterPlan counters = plan();
  EXPECT_EQ(counters.limit_s, 3 * 120 + 60);
  Exit stopped;
  stopped.why = Exit::Why::TimedOut;
  stopped.code = 130;
  stopped.time_limit = std::chrono::seconds(420);
  processes.expect({"/opt/ncu", "--list-sections"}).prints("SpeedOfLight\n");
  processes.expect({"/opt/ncu", "--target-processes"})
      .does([](const Command& command) {
        EXPECT_EQ(command.timeout, std::chrono::milliseconds(420'000));
      })
      .writes(file("run.ncu-rep"), "report")
      .writes(file("ncu.log"), "==PROF== Connected to process 937 (/usr/bin/app)\n")
      .ends(stopped);
  processes.expect({"/opt/ncu", "--import", file("run.ncu-rep").string(), "--page", "raw"})
      .prints("ID\n");
  processes.expect({"/opt/ncu", "--import", file("run.ncu-rep").string(), "--page", "details"})
      .prints("details\n");
  const auto ran = stage.run(context, stage.plan(context), run);
  ASSERT_TRUE(ran) << ran.error().to_string();
  ASSERT_EQ(run.findings().size(), 2U);
  EXPECT_EQ(run.findings()[0].code, "counter_plan");
  EXPECT_EQ(run.findings()[1].code, "budget_exceeded");
  EXPECT_EQ(run.findings()[1].severity, pipeline::Severity::Warning);
  EXPECT_EQ(run.findings()[1].text,
            "ncu was stopped after 7 min 00 s, far beyond its budget; what it had counted is kept");

  std::filesystem::remove(folder_ / "run.json");
  EXPECT_FALSE(plan().limit_s) << "the program's own time is not known";
}

TEST_F(CounterPlans, MayDropAGateThatNothingKnows) {
  const pipeline::StageContext context{setup_, tools_};
  CounterPlan counters = plan();
  EXPECT_FALSE(may_drop_gate(context, counters));
  counters.source.clear();
  EXPECT_FALSE(may_drop_gate(context, counters)) << "the baseline has phases";
  std::filesystem::remove_all(folder_ / "baseline");
  EXPECT_TRUE(may_drop_gate(context, counters));
}

TEST_F(CounterPlans, AreMadeOnlyIfTheSettingsChooseNothing) {
  settings::Ncu own = setup_.settings.pipeline.ncu;
  EXPECT_TRUE(chooses_launches(own));
  own.ncu_cli.launch_count = 5;
  EXPECT_FALSE(chooses_launches(own));
  own = setup_.settings.pipeline.ncu;
  own.ncu_cli.replay_mode = settings::ReplayMode::Range;
  EXPECT_FALSE(chooses_launches(own));
  own = setup_.settings.pipeline.ncu;
  own.budget_s.reset();
  EXPECT_FALSE(chooses_launches(own));
}

TEST_F(CounterPlans, AreCarriedOutAndComparedWithWhatHappened) {
  testing::FakeProcesses processes;
  testing::RecordedStageRun run{processes};
  const NcuStage stage;
  const pipeline::StageContext context{setup_, tools_};
  const auto csv = testing::source_dir() / "tests/golden/ncu/2025.3-raw-kernels/input.csv";
  processes.expect({"/opt/ncu", "--list-sections"}).prints("SpeedOfLight\n");
  processes.expect({"/opt/ncu", "--target-processes"})
      .does([](const Command& command) {
        const std::string argv = join(command.argv, " ");
        EXPECT_THAT(argv, HasSubstr("--nvtx-include decode/ --launch-skip "));
        EXPECT_THAT(command.argv, Contains("--launch-count"));
        EXPECT_THAT(command.argv, Not(Contains("2000")));
      })
      .writes(file("run.ncu-rep"), "report")
      .writes(file("ncu.log"), "==PROF== Connected to process 937 (/usr/bin/app)\n");
  processes.expect({"/opt/ncu", "--import", file("run.ncu-rep").string(), "--page", "raw"})
      .prints(read_file(csv).value());
  processes.expect({"/opt/ncu", "--import", file("run.ncu-rep").string(), "--page", "details"})
      .prints("details\n");
  const auto ran = stage.run(context, stage.plan(context), run);
  ASSERT_TRUE(ran) << ran.error().to_string();
  ASSERT_FALSE(run.findings().empty());
  EXPECT_EQ(run.findings()[0].code, "counter_plan");
  const auto summarised = stage.summarise(context, run::Run::with_record(setup_.folder, {}), run);
  ASSERT_TRUE(summarised) << summarised.error().to_string();
  EXPECT_EQ(run.findings().back().code, "counter_outcome");
  EXPECT_THAT(run.findings().back().text, HasSubstr("of the kernel time has counters"));
  const auto text = read_file(file("counter_plan.json"));
  ASSERT_TRUE(text);
  const auto written = from_document<CounterPlan>(*text, "counter_plan.json");
  ASSERT_TRUE(written) << written.error().to_string();
  EXPECT_TRUE(written->seconds);
  EXPECT_TRUE(written->coverage);
  EXPECT_GT(written->counted.value_or(0), 0U);
}

}  // namespace
}  // namespace profline::stages::internal
