#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"
#include "formats/yaml.h"
#include "stages/ncu/ncu_stage.h"
#include "stages/program_gate/program_gate.h"
#include "testing/paths.h"
#include "testing/pipeline/program_stage_test.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"

namespace profline::stages {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kConnected = "==PROF== Connected to process 937 (/usr/bin/app)\n";
constexpr const char* kNothing = "==WARNING== No kernels were profiled.\n";

class NcuGate : public testing::ProgramStageTest {
 protected:
  NcuGate() : ProgramStageTest("ncu") {
    setup_.settings.pipeline.ncu.ncu_cli.target_processes = settings::TargetProcesses::All;
    tools_.ncu = ncu::Installation{"/opt/ncu", {2024, 1, 1}};
    tools_.driver = gpu::Driver{};
  }

  Result<void> run_stage() { return stage_.run(context(), stage_.plan(context()), run_); }
  void expect_imports() {
    const auto golden = testing::source_dir() / "tests/golden/ncu/2025.3-raw-kernels/input.csv";
    processes_.expect({"/opt/ncu", "--import", file("run.ncu-rep").string(), "--page", "raw"})
        .prints(read_file(golden).value());
    processes_.expect({"/opt/ncu", "--import", file("run.ncu-rep").string(), "--page", "details"})
        .prints("details\n");
  }

  testing::FakeProcesses processes_;
  testing::RecordedStageRun run_{processes_};
  NcuStage stage_;
};

TEST_F(NcuGate, IsPlannedInBothForms) {
  const pipeline::StagePlan plan = stage_.plan(context());
  const auto& requests = plan.command("capture requests");
  EXPECT_EQ(requests.condition, "if the baseline records requests of a Python program on a GPU");
  EXPECT_THAT(requests.command.argv, Contains("--profile-from-start"));
  EXPECT_EQ(requests.command.env.at("PROFLINE_GATE"), "cuda");
  const auto& everything = plan.command("capture");
  EXPECT_EQ(everything.condition, "otherwise");
  EXPECT_THAT(everything.command.argv, Not(Contains("--profile-from-start")));
  EXPECT_EQ(plan.command("rerun").condition, "if nothing was profiled");
}

TEST_F(NcuGate, ProfilesTheSteadyRequestsOfAPythonProgram) {
  baseline("python", 1, "");
  processes_.expect({"/opt/ncu", "--list-sections"}).prints("SpeedOfLight\n");
  processes_.expect({"/opt/ncu", "--target-processes"})
      .writes(file("run.ncu-rep"), "report")
      .writes(file("ncu.log"), kConnected);
  expect_imports();
  const auto ran = run_stage();
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_THAT(run_.names(),
              ElementsAre("list_sections", "capture requests", "raw_csv", "sections_report"));
  EXPECT_EQ(read_gate(folder_ / "ncu").gate, CaptureGate::Requests);
}

TEST_F(NcuGate, RunsOnceMoreIfNothingOpenedIt) {
  baseline("python", 1, "");
  processes_.expect({"/opt/ncu", "--list-sections"}).prints("SpeedOfLight\n");
  processes_.expect({"/opt/ncu", "--target-processes"})
      .writes(file("ncu.log"), std::string(kConnected) + kNothing)
      .writes(file("workload/recorded/python-7-1.jsonl"),
              R"({"kind":"problem","text":"the program made 1 request"})"
              "\n");
  processes_.expect({"/opt/ncu", "--target-processes"})
      .writes(file("run.ncu-rep"), "report")
      .writes(file("ncu-rerun.log"), kConnected);
  expect_imports();
  const auto ran = run_stage();
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_THAT(run_.names(), ElementsAre("list_sections", "capture requests", "rerun", "raw_csv",
                                        "sections_report"));
  ASSERT_EQ(run_.findings().size(), 1U);
  EXPECT_EQ(run_.findings()[0].text, "no kernels were profiled: the program made 1 request");
}

TEST_F(NcuGate, IsLeftOutWithoutTheAdapter) {
  setup_.settings.pipeline.workload.python = settings::PythonAdapter::Off;
  for (const pipeline::PlannedCommand& command : stage_.plan(context()).commands) {
    EXPECT_NE(command.name, "capture requests");
  }
}

TEST_F(NcuGate, PicksSteadyRequestsByTheirRanges) {
  const std::string argv = join(stage_.plan(context()).command("capture ranges").command.argv, " ");
  EXPECT_THAT(argv, HasSubstr("--nvtx --nvtx-include request/ --range-filter ::2|3|4"));
  EXPECT_EQ(stage_.plan(context()).command("capture ranges").condition,
            "if it records NVTX ranges 'request' instead");
  baseline("nvtx");
  processes_.expect({"/opt/ncu", "--list-sections"}).prints("SpeedOfLight\n");
  processes_.expect({"/opt/ncu", "--target-processes"})
      .does([](const Command& command) {
        EXPECT_THAT(command.argv, Contains("::3|4|5")) << "the first two are cold";
      })
      .writes(file("run.ncu-rep"), "report")
      .writes(file("ncu.log"), kConnected);
  expect_imports();
  const auto ran = run_stage();
  ASSERT_TRUE(ran) << ran.error().to_string();
  EXPECT_EQ(run_.names().at(1), "capture ranges");
  EXPECT_EQ(read_gate(folder_ / "ncu").gate, CaptureGate::Ranges);
}

TEST_F(NcuGate, ComparesTheRangesThatItPickedWithTheSameRequests) {
  baseline("nvtx");
  std::string recorded =
      R"({"kind":"process","schema":"profline.python/1","pid":7,"python":"3.12","start_ns":0})"
      "\n";
  for (int i = 0; i < 6; ++i) {
    recorded += R"({"kind":"request","source":"python","ns":90,"phases":[],"pid":7,"thread":7,)"
                R"("start_ns":)" +
                std::to_string(100 * i) + "}\n";
  }
  processes_.expect({"/opt/ncu", "--list-sections"}).prints("SpeedOfLight\n");
  processes_.expect({"/opt/ncu", "--target-processes"})
      .writes(file("run.ncu-rep"), "report")
      .writes(file("ncu.log"), kConnected)
      .writes(file("workload/recorded/python-7-1.jsonl"), recorded);
  expect_imports();
  const auto ran = run_stage();
  ASSERT_TRUE(ran) << ran.error().to_string();
  const auto requests =
      parse_requests(read_file(file("workload/requests.jsonl")).value_or(""), "requests.jsonl");
  ASSERT_TRUE(requests) << requests.error().to_string();
  EXPECT_THAT(*requests, ElementsAre(Field(&Request::id, 2U), Field(&Request::id, 3U),
                                     Field(&Request::id, 4U)));
}

TEST_F(NcuGate, SaysWhyItBeginsWithTheFirstRequest) {
  tools_.ncu->value().options = {"--nvtx"};  // an old release
  const pipeline::StagePlan plan = stage_.plan(context());
  EXPECT_THAT(plan.notes, Contains(HasSubstr("this ncu has no --range-filter")));
  baseline("nvtx");
  processes_.expect({"/opt/ncu", "--list-sections"}).prints("SpeedOfLight\n");
  processes_.expect({"/opt/ncu", "--target-processes"})
      .writes(file("run.ncu-rep"), "report")
      .writes(file("ncu.log"), kConnected);
  expect_imports();
  ASSERT_TRUE(run_stage());
  EXPECT_EQ(run_.names().at(1), "capture");
  EXPECT_EQ(codes(run_.findings()), std::vector<std::string>{"cold_requests"});
}

TEST_F(NcuGate, LeavesTheUsersRangesAlone) {
  setup_.config =
      parse_yaml("pipeline: {ncu: {ncu_cli: {nvtx: {include: prefill}}}}", "my.yaml").value();
  const pipeline::StagePlan plan = stage_.plan(context());
  for (const pipeline::PlannedCommand& command : plan.commands) {
    EXPECT_NE(command.name, "capture ranges");
  }
  EXPECT_THAT(plan.notes, Contains(HasSubstr("nvtx.include names ranges")));
}

}  // namespace
}  // namespace profline::stages
