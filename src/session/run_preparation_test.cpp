#include "session/run_preparation.h"

#include "session/testing_session.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunPreparationTest : public SessionTest {
 protected:
  RunRequest request(std::vector<std::string> overrides = {}) const {
    return {.choice = choice(std::move(overrides))};
  }
  PreparedRun prepared(const RunRequest& given) {
    auto run = prepare_run(given, Making::Nothing, services());
    EXPECT_TRUE(run) << run.error().to_string();
    return run ? std::move(*run) : PreparedRun();
  }
  std::string failure(const RunRequest& given, Making making = Making::Nothing) {
    const auto run = prepare_run(given, making, services());
    return run ? "prepared" : run.error().to_string();
  }
  /// The content of the folder, without the configs.
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().filename() != "conf") names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

TEST_F(RunPreparationTest, PlanningMakesNothing) {
  const auto run = prepare_run(request({"experiment=x"}), Making::Nothing, services());
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->plan.setup.folder, folder_ / "run");
  EXPECT_EQ(run->plan.setup.id, "run");
  EXPECT_EQ(run->plan.setup.settings.experiment, "x");
  EXPECT_FALSE(run->folder);
  EXPECT_FALSE(run->folder_was_named);
  EXPECT_THAT(run->overrides, ElementsAre("experiment=x"));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(RunPreparationTest, OnlyWhatIsSwitchedOnIsPlanned) {
  const auto run = prepare_run(request(), Making::Nothing, services());
  ASSERT_TRUE(run) << run.error().to_string();
  std::vector<std::string> on;
  for (const pipeline::PlannedStage& stage : run->plan.stages) {
    if (stage.is_on()) on.emplace_back(stage.stage->id());
  }
  EXPECT_THAT(on, ElementsAre("baseline"));
  EXPECT_FALSE(run->plan.obstacle());
}

TEST_F(RunPreparationTest, AFolderThatWasMadeGoesAwayWithWhatWasPrepared) {
  {
    const auto run = prepare_run(request(), Making::Folder, services());
    ASSERT_TRUE(run) << run.error().to_string();
    ASSERT_TRUE(run->folder);
    EXPECT_EQ(run->folder->path(), folder_ / "run");
    EXPECT_TRUE(exists("run"));
  }
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(RunPreparationTest, AConfigThatIsWrongLeavesNoFolder) {
  EXPECT_THAT(failure(request({"infer.max_new_tokens=0"}), Making::Folder),
              HasSubstr("override 1:1:22: infer.max_new_tokens: must be an integer from 1 to"));
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(RunPreparationTest, AFolderByOverrideIsTakenAsItIs) {
  const auto run = prepare_run(request({"hydra.run.dir=mine/../own"}), Making::Nothing, services());
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_TRUE(run->folder_was_named);
  EXPECT_EQ(run->plan.setup.folder, folder_ / "own");
  EXPECT_EQ(failure(request({"hydra.run.dir=''"})), "hydra.run.dir must name a folder");
}

TEST_F(RunPreparationTest, AKeyThatOnlyEndsAlikeDoesNotNameTheFolder) {
  const auto run = prepare_run(request({"+vars.hydra.run.dir=x"}), Making::Nothing, services());
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_FALSE(run->folder_was_named);
}

TEST_F(RunPreparationTest, AJobLiesInItsSweep) {
  RunRequest job = request({"hydra.sweep.dir=all"});
  job.job = 3;
  EXPECT_EQ(prepared(job).plan.setup.folder, folder_ / "all/3");
  job.sweep_folder = folder_ / "all-2";
  EXPECT_EQ(prepared(job).plan.setup.folder, folder_ / "all-2/3");
}

TEST_F(RunPreparationTest, ARunWithoutAStageIsRefused) {
  const RunRequest nothing = request({"pipeline.baseline.enable=false"});
  EXPECT_EQ(failure(nothing, Making::Folder),
            "no stage is enabled; enable one, as in pipeline.static_analysis.enable=true");
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(RunPreparationTest, SaysWhatTheHydraNodeAsksForInVain) {
  const RunRequest odd = request({"hydra.verbose=true", "hydra.mode=MULTIRUN"});
  ASSERT_TRUE(prepare_run(odd, Making::Nothing, services()));
  EXPECT_THAT(
      said_,
      ElementsAre("profline: warning: override 1:1:1: hydra.verbose has no effect: -v "
                  "prints more",
                  "profline: warning: hydra.mode is MULTIRUN, but this command runs one job"));
  said_.clear();
  ASSERT_TRUE(prepare_run(odd, Making::Nothing, services(-1)));
  RunRequest second = odd;
  second.job = 1;
  ASSERT_TRUE(prepare_run(second, Making::Nothing, services()));
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(RunPreparationTest, SecretsAreAFinding) {
  const auto run =
      prepare_run(request({"+vars.api_key=hunter2hunter2"}), Making::Nothing, services());
  ASSERT_TRUE(run) << run.error().to_string();
  std::vector<std::string> texts;
  for (const pipeline::Finding& finding : run->plan.findings) {
    if (finding.code == "redacted") texts.push_back(finding.text);
  }
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_THAT(texts.front(), HasSubstr("in the files of this run: vars.api_key"));
}

TEST_F(RunPreparationTest, RandomSamplesHaveASeedThatAResumedRunKeeps) {
  RunRequest random = request({"dataset.sampling.randomize=true"});
  EXPECT_TRUE(prepared(random).plan.setup.sampling_seed);
  random.sampling_seed = 7;
  EXPECT_EQ(prepared(random).plan.setup.sampling_seed, 7U);
  EXPECT_EQ(prepared(request()).plan.setup.sampling_seed, std::nullopt);
}

TEST_F(RunPreparationTest, AProgramOfTheAttemptBeforeMustStillBeThere) {
  RunRequest again = request({"pipeline.nsys.enable=true"});
  again.programs.remembered.nsys = (folder_ / "gone/nsys").string();
  EXPECT_THAT(failure(again), HasSubstr("the nsys that this run used no longer exists: "));
  EXPECT_THAT(failure(again), HasSubstr("; name another one: --nsys PROGRAM"));
}

TEST_F(RunPreparationTest, WhatTheMachineLacksIsAnObstacleAndNotAnError) {
  RunRequest with_workload = request({"pipeline.workload.command=null"});
  with_workload.programs.workload = "no-such-workload";
  const auto run = prepare_run(with_workload, Making::Nothing, services());
  ASSERT_TRUE(run) << run.error().to_string();
  const auto obstacle = run->plan.obstacle();
  ASSERT_TRUE(obstacle);
  EXPECT_THAT(obstacle->to_string(), HasSubstr("no-such-workload"));
}

TEST_F(RunPreparationTest, JobsThatAreOnlyCheckedShareWhatWasFound) {
  RunRequest shared = request();
  shared.surveys = std::make_shared<ToolSurveys>();
  ASSERT_TRUE(prepare_run(shared, Making::Nothing, services()));
  ASSERT_TRUE(prepare_run(shared, Making::Nothing, services()));
  EXPECT_EQ(shared.surveys->found.size(), 1U);
}

TEST_F(RunPreparationTest, AnInterruptIsSeenBeforeAnythingRuns) {
  interrupt_.request();
  const auto run = prepare_run(request(), Making::Folder, services());
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind(), ErrorKind::Cancelled);
  EXPECT_THAT(left(), IsEmpty());
}

TEST(ForAnswers, SwitchesOneStageOnAndPredictionsUnlessTheUserSaysSo) {
  const ConfigChoice plain = for_answers({.overrides = {"device=cpu"}});
  EXPECT_EQ(plain.overrides.front(), "device=cpu");
  EXPECT_EQ(plain.overrides.back(), "pipeline.direct_inference.enable=true");
  EXPECT_THAT(plain.overrides, Contains("pipeline.direct_inference.output.prediction.enable=true"));
  EXPECT_THAT(plain.overrides, Contains("pipeline.nsys.enable=false"));
  const ConfigChoice without =
      for_answers({.overrides = {"pipeline.direct_inference.output.prediction.enable=false"}});
  EXPECT_THAT(without.overrides,
              ::testing::Not(Contains("pipeline.direct_inference.output.prediction.enable=true")));
  const ConfigChoice alike = for_answers(
      {.overrides = {"+vars.pipeline.direct_inference.output.prediction.enable=false"}});
  EXPECT_THAT(alike.overrides, Contains("pipeline.direct_inference.output.prediction.enable=true"));
}

}  // namespace
}  // namespace profline::session
