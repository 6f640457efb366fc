#include "pipeline/executor.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/files.h"
#include "pipeline/resume.h"
#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "run/run.h"
#include "testing/fake_clock.h"
#include "testing/forked.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

/// A stage that runs one command and has whatever the test gives it.
class FakeStage final : public Stage {
 public:
  FakeStage(std::string id, const settings::Stage& settings)
      : id_(std::move(id)), settings_(settings) {}

  std::string_view id() const override { return id_; }
  const settings::Stage& settings(const settings::Pipeline&) const override { return settings_; }
  bool is_measured_against_baseline() const override { return id_ != "baseline"; }
  bool reads_baseline(const settings::Root&) const override { return after_baseline; }
  Needs needs(const settings::Root&) const override { return {}; }
  std::vector<Finding> preflight(const StageContext&) const override { return found; }
  StagePlan plan(const StageContext& context) const override {
    StagePlan plan;
    Command command;
    command.argv = {id_, context.setup.folder.string()};
    plan.commands.push_back({"work", command});
    plan.changes = changes;
    plan.artifacts = artifacts;
    return plan;
  }
  Result<void> run(const StageContext&, const StagePlan& plan, StageRun& run) const override {
    PL_TRY(run_commands(plan, run));
    return {};
  }
  std::vector<Finding> verify(const StageContext&, const run::Run&) const override {
    return verified;
  }
  Result<void> summarise(const StageContext& context, const run::Run&,
                         StageRun& run) const override {
    if (asks_in_summary) PL_TRY(run.execute({"summary", {.argv = {"summary"}}}));
    if (!capture.empty()) run.keep_capture(capture, Timeline());
    if (!inapplicable.empty()) run.skip({Severity::Problem, "inapplicable", inapplicable});
    return write_file_atomic(context.setup.stage_folder(id_) / "summary", "made");
  }

  std::vector<Finding> found;
  std::vector<Finding> verified;
  std::vector<ConfigChange> changes;
  std::vector<std::string> artifacts;
  std::string capture;  ///< one that it has read
  bool asks_in_summary = false;
  bool after_baseline = false;
  std::string inapplicable;  ///< why it is skipped, as its summary finds out

 private:
  std::string id_;
  const settings::Stage& settings_;
};

class Execute : public ::testing::Test {
 protected:
  Execute() {
    for (settings::Stage& stage : settings_) stage.enable = settings::Enable::Yes;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      stages_.push_back(std::make_unique<FakeStage>(kNames[i], settings_[i]));
    }
    NodeMap workload;
    workload.set("engine", Node::string("eager"));
    NodeMap config;
    config.set("workload", Node::map(std::move(workload)));
    setup_.config = Node::map(std::move(config));
    setup_.folder = folder_.path();
  }
  FakeStage& stage(std::size_t i) { return static_cast<FakeStage&>(*stages_[i]); }
  RunPlan plan() {
    return make_plan(setup_, {}, stages_, [](const std::string&) { return "here"; });
  }
  ExitCode execute_plan(const RunPlan& plan, const WriteReports& reports = nullptr) {
    RunRecord record;
    enter_stages(plan, record);
    run::RunJournal journal(folder_.path(), record);
    const auto code =
        execute(plan, journal, {processes_, interrupt_, progress_, Log::null(), clock_}, reports);
    EXPECT_TRUE(code) << code.error().to_string();
    return code ? *code : ExitCode::BadInput;
  }
  std::vector<std::string> states() const {
    std::vector<std::string> states;
    const auto record = run::read_record(folder_.path());
    EXPECT_TRUE(record);
    for (const StageRecord& stage : record->stages) {
      states.push_back(stage.name + " " + std::string(to_text(stage.state)));
    }
    return states;
  }

  static constexpr std::array kNames = {"first", "baseline", "last"};
  std::array<settings::Stage, 3> settings_;
  Stages stages_;
  RunSetup setup_;
  testing::TempDir folder_;
  testing::FakeProcesses processes_;
  Interrupt interrupt_;
  NullProgress progress_;
  testing::FakeClock clock_;
};

TEST_F(Execute, RunsStagesInOrderAndKeepsWhatTheyDid) {
  for (const char* name : kNames) processes_.expect({name});
  EXPECT_EQ(execute_plan(plan()), ExitCode::Done);
  EXPECT_THAT(states(), ElementsAre("first ok", "baseline ok", "last ok"));
  ASSERT_EQ(processes_.commands().size(), 3U);
  EXPECT_EQ(processes_.commands()[1].argv[0], "baseline");
  const RunRecord record = run::read_record(folder_.path()).value();
  EXPECT_EQ(record.stages[0].commands[0].end, "exited with code 0");
  EXPECT_THAT(
      record.stages[0].artifacts,
      ElementsAre(ArtifactRecord{
          "first/summary", 4, "ea0890697a77af0a2e054cccec587c8a42feb5cf38e778c6c6e2a96bfb945c0b"}));
  EXPECT_TRUE(fs::exists(folder_ / "last/status.json"));
  EXPECT_FALSE(fs::exists(folder_ / ".reserve"));
}

TEST_F(Execute, AStageThatReadsTheBaselineRunsAfterIt) {
  stage(0).after_baseline = true;
  for (const char* name : {"baseline", "first", "last"}) processes_.expect({name});
  EXPECT_EQ(execute_plan(plan()), ExitCode::Done);
  EXPECT_THAT(states(), ElementsAre("baseline ok", "first ok", "last ok"));
}

TEST_F(Execute, AStageThatTurnsOutNotToApplyIsSkipped) {
  stage(0).inapplicable = "no model was recorded";
  setup_.settings.pipeline.keep_going = false;
  for (const char* name : kNames) processes_.expect({name});
  EXPECT_EQ(execute_plan(plan()), ExitCode::Done);
  EXPECT_THAT(states(), ElementsAre("first skipped", "baseline ok", "last ok"));
  const RunRecord record = run::read_record(folder_.path()).value();
  ASSERT_EQ(record.stages[0].findings.size(), 1U);
  EXPECT_EQ(record.stages[0].findings[0].text, "no model was recorded");
}

TEST_F(Execute, AProblemFailsItsStageAndTheExitCodeSaysSo) {
  stage(0).verified = {{Severity::Problem, "empty", "nothing was captured"}};
  for (const char* name : kNames) processes_.expect({name});
  EXPECT_EQ(execute_plan(plan()), ExitCode::Failed);
  EXPECT_THAT(states(), ElementsAre("first failed", "baseline ok", "last ok"));
  EXPECT_FALSE(fs::exists(folder_ / "first/summary")) << "nothing is made of a capture that failed";
}

TEST_F(Execute, WithoutKeepGoingTheRestStaysPending) {
  setup_.settings.pipeline.keep_going = false;
  processes_.expect({"first"}).dies_of(SIGSEGV);
  EXPECT_EQ(execute_plan(plan()), ExitCode::Failed);
  EXPECT_THAT(states(), ElementsAre("first failed", "baseline pending", "last pending"));
}

TEST_F(Execute, AnInterruptEndsTheRun) {
  processes_.expect({"first"}).does([&](const Command&) { interrupt_.request(); });
  EXPECT_EQ(execute_plan(plan()), ExitCode::Interrupted);
  EXPECT_THAT(states(), ElementsAre("first ok", "baseline pending", "last pending"));
  EXPECT_EQ(run::read_record(folder_.path())->state, RunState::Interrupted);
}

TEST_F(Execute, AnInterruptJustBeforeAChildStartsCutsItsStageOff) {
  stage(0).verified = {{Severity::Problem, "empty", "nothing was captured"}};
  processes_.expect({"first"})
      .does([&](const Command&) { interrupt_.request(); })
      .cannot_start(Error(ErrorKind::Cancelled, "cancelled before 'first' was started"));
  EXPECT_EQ(execute_plan(plan()), ExitCode::Interrupted);
  EXPECT_THAT(states(), ElementsAre("first interrupted", "baseline pending", "last pending"));
  const RunRecord record = run::read_record(folder_.path()).value();
  ASSERT_EQ(record.stages[0].findings.size(), 1U);
  EXPECT_EQ(record.stages[0].findings[0].text,
            "interrupted before work started; none of its files was there yet");
}

TEST_F(Execute, AnInterruptWhileAStageIsSummarisedIsReported) {
  stage(0).asks_in_summary = true;
  processes_.expect({"first"});
  processes_.expect({"summary"})
      .does([&](const Command&) { interrupt_.request(); })
      .cannot_start(Error(ErrorKind::Cancelled, "cancelled before 'summary' was started"));
  EXPECT_EQ(execute_plan(plan()), ExitCode::Interrupted);
  EXPECT_THAT(states(), ElementsAre("first interrupted", "baseline pending", "last pending"));
  const RunRecord record = run::read_record(folder_.path()).value();
  ASSERT_EQ(record.stages[0].findings.size(), 1U);
  EXPECT_EQ(record.stages[0].findings[0].text,
            "interrupted before summary started; none of its files was there yet");
}

TEST_F(Execute, AnInterruptThatCutsNothingOffIsTooLate) {
  processes_.expect({"first"});
  processes_.expect({"baseline"});
  processes_.expect({"last"}).does([&](const Command&) { interrupt_.request(); });
  bool reported = false;
  const auto reports = [&](const run::Run&) -> Result<void> {
    reported = true;
    return {};
  };
  EXPECT_EQ(execute_plan(plan(), reports), ExitCode::Done);
  EXPECT_TRUE(reported);
  EXPECT_THAT(states(), ElementsAre("first ok", "baseline ok", "last ok"));
}

TEST_F(Execute, ReportsGetTheCapturesThatStagesHaveRead) {
  for (const char* name : kNames) processes_.expect({name});
  stage(0).capture = "run.sqlite";
  bool has_capture = false;
  const auto reports = [&](const run::Run& run) -> Result<void> {
    has_capture = run.capture("run.sqlite").content.has_value();
    return {};
  };
  EXPECT_EQ(execute_plan(plan(), reports), ExitCode::Done);
  EXPECT_TRUE(has_capture);
}

TEST_F(Execute, AnInterruptWhileReportsAreWrittenIsTooLate) {
  for (const char* name : kNames) processes_.expect({name});
  const auto reports = [&](const run::Run&) -> Result<void> {
    interrupt_.request();
    return {};
  };
  EXPECT_EQ(execute_plan(plan(), reports), ExitCode::Done);
  EXPECT_EQ(run::read_record(folder_.path())->state, RunState::Ok);
}

TEST_F(Execute, AStageThatIsCutOffIsNotJudgedByWhatItLacks) {
  stage(0).verified = {{Severity::Problem, "empty", "nothing was captured"}};
  stage(0).artifacts = {"made.txt", "never.txt"};
  Exit cut;
  cut.why = Exit::Why::Cancelled;
  cut.signal = SIGINT;
  processes_.expect({"first"})
      .writes(folder_ / "first/made.txt", "x")
      .does([&](const Command&) { interrupt_.request(); })
      .ends(cut);
  EXPECT_EQ(execute_plan(plan()), ExitCode::Interrupted);
  EXPECT_THAT(states(), ElementsAre("first interrupted", "baseline pending", "last pending"));
  const RunRecord record = run::read_record(folder_.path()).value();
  ASSERT_EQ(record.stages[0].findings.size(), 1U);
  EXPECT_EQ(record.stages[0].findings[0].code, "interrupted");
  EXPECT_EQ(record.stages[0].findings[0].text,
            "interrupted during work; kept, and not verified: made.txt");
}

TEST_F(Execute, WhatAKilledChildWasWritingIsRemoved) {
  const fs::path target = folder_ / "first/half.json";
  processes_.expect({"first"})
      .does([&](const Command&) {
        testing::in_child([&] {
          auto file = AtomicFile::create(target);
          if (file && file->append("half")) ::_exit(0);  // as killed: nothing is taken back
          return "";
        });
        const auto left = fs::directory_iterator(folder_ / "first");
        EXPECT_TRUE(std::any_of(begin(left), end(left), [](const fs::directory_entry& entry) {
          return entry.path().filename().string().starts_with(".");
        })) << "nothing to remove";
      })
      .dies_of(SIGKILL);
  for (const char* name : {"baseline", "last"}) processes_.expect({name});
  EXPECT_EQ(execute_plan(plan()), ExitCode::Failed);
  for (const auto& entry : fs::directory_iterator(folder_ / "first")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  }
}

TEST_F(Execute, AStageWithChangesIsHandedThemInAFileOfItsOwn) {
  stage(0).changes = {{"workload.engine", Node::string("other"), "to see it"}};
  for (const char* name : kNames) processes_.expect({name});
  EXPECT_EQ(execute_plan(plan()), ExitCode::Done);
  RunSetup changed = setup_;
  changed.config.find("workload")->as_map().set("engine", Node::string("other"));
  EXPECT_EQ(read_file(folder_ / "first/config.json").value(), handed_config(changed, {}).value());
  EXPECT_FALSE(fs::exists(folder_ / "last/config.json"));
}

TEST_F(Execute, AutoIsSkippedWhereItsPreflightFailsAndOthersAreStoppedByIt) {
  stage(2).found = {{Severity::Problem, "absent", "there is no tool", "install it"}};
  settings_[2].enable = settings::Enable::Auto;
  settings_[1].enable = settings::Enable::Auto;
  settings_[0].enable = settings::Enable::No;
  const RunPlan skipping = plan();
  EXPECT_EQ(skipping.obstacle(), std::nullopt);
  EXPECT_EQ(execute_plan(skipping), ExitCode::Done);
  EXPECT_THAT(states(), ElementsAre("first off", "baseline off", "last skipped"));
  EXPECT_TRUE(fs::exists(folder_ / "last/status.json"));
  settings_[2].enable = settings::Enable::Yes;
  const auto obstacle = plan().obstacle();
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->to_string(), "stage last: there is no tool; install it");
  EXPECT_EQ(obstacle->kind(), ErrorKind::NotFound);
}

TEST_F(Execute, ResumeKeepsWhatIsOkAndUnchanged) {
  for (const char* name : kNames) processes_.expect({name});
  EXPECT_EQ(execute_plan(plan()), ExitCode::Done);
  RunRecord record = run::read_record(folder_.path()).value();
  record.stages[2].state = StageState::Interrupted;
  stage(0).changes = {};
  const RunPlan again = plan();
  const auto decisions = decide_resume(again, record, false);
  ASSERT_EQ(decisions.size(), 3U);
  EXPECT_EQ(decisions[0].why, "it is ok and its inputs are the same");
  EXPECT_FALSE(decisions[1].runs);
  EXPECT_EQ(decisions[2].why, "it is interrupted");
  EXPECT_TRUE(decide_resume(again, record, true)[0].runs);
  ASSERT_TRUE(enter_resumed(again, decisions, record));
  EXPECT_EQ(record.stages[0].state, StageState::Ok);
  EXPECT_EQ(record.stages[2].state, StageState::Pending);
  EXPECT_TRUE(fs::exists(folder_ / "attempts/last-1/summary"));
  EXPECT_FALSE(fs::exists(folder_ / "last"));
}

TEST_F(Execute, AStageOfTheRunThatWouldBeSkippedNowIsAnError) {
  for (const char* name : kNames) processes_.expect({name});
  EXPECT_EQ(execute_plan(plan()), ExitCode::Done);
  RunRecord record = run::read_record(folder_.path()).value();
  EXPECT_EQ(nothing_to_run(plan()),
            "nothing is left to run: every stage is ok and its inputs are the same");
  stage(2).found = {{Severity::Problem, "absent", "there is no tool", "install it"}};
  settings_[2].enable = settings::Enable::Auto;
  const RunPlan again = plan();
  EXPECT_EQ(lost_stages(again, record), std::nullopt) << "its result stands";
  EXPECT_EQ(nothing_to_run(again),
            "nothing is left to run: last is skipped as before; every other stage is ok and its "
            "inputs are the same");
  for (const StageState state : {StageState::Running, StageState::Failed, StageState::Pending}) {
    record.stages[2].state = state;
    const auto lost = lost_stages(again, record);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->kind(), ErrorKind::NotFound);
    EXPECT_EQ(lost->to_string(),
              "stage last is part of this run and cannot run now: there is no tool; install it; to "
              "leave it out: pipeline.last.enable=false");
  }
  record.stages[2].state = StageState::Skipped;
  EXPECT_EQ(lost_stages(again, record), std::nullopt) << "it never was part of it";
}

}  // namespace
}  // namespace profline::pipeline
