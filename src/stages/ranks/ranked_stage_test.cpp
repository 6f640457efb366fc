#include "stages/ranks/ranked_stage.h"

#include <gmock/gmock.h>

#include "testing/pipeline/program_stage_test.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"

namespace profline::stages {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RankedStage : public testing::ProgramStageTest {
 protected:
  RankedStage() : ProgramStageTest("nsys") {
    setup_.settings.pipeline.workload.command = {"./train", "--x"};
    setup_.settings.pipeline.workload.ranks.launcher = settings::RankLauncher::Mpirun;
    setup_.settings.pipeline.workload.ranks.n = 3;
    setup_.settings.pipeline.workload.ranks.profile = {settings::RankChoice::Kind::Listed, {0, 2}};
    tools_.profline = "/bin/profline";
  }

  static RankRun run_of(const pipeline::StageContext& context) {
    const fs::path folder = context.setup.stage_folder("nsys");
    RankRun own;
    own.command.argv = {"nsys", "-o", (folder / "run").string(), "./train", "--x"};
    own.command.env = {{"PROFLINE_RECORD_DIR", (folder / "recorded").string()}};
    own.command.log = folder / "log";
    own.session = "s-" + std::to_string(*context.setup.rank);
    return own;
  }
  pipeline::StagePlan plan() {
    pipeline::StagePlan plan;
    add_launch(context(), "nsys", run_of, plan);
    return plan;
  }
  /// What the process of a rank writes.
  void ends(std::uint32_t rank, int code, std::vector<Finding> findings = {}) {
    RankProcess record;
    record.rank = rank;
    record.node = "n" + std::to_string(rank);
    record.ended_ns = 7;
    record.code = code;
    record.end = "exited with code " + std::to_string(code);
    record.findings = std::move(findings);
    write("nsys/ranks/" + std::to_string(rank) + "/rank.json", to_document(record).value());
  }

  testing::FakeProcesses processes_;
  testing::RecordedStageRun run_{processes_};
};

TEST_F(RankedStage, PlansTheLauncherAndShowsWhatItStarts) {
  const pipeline::StagePlan made = plan();
  const std::string launch = (folder_ / "nsys/launch.json").string();
  EXPECT_THAT(made.command("launch").command.argv,
              ElementsAre("mpirun", "-n", "3", "/bin/profline", "rank-exec", launch, "--",
                          "./train", "--x"));
  EXPECT_THAT(made.command("rank 0").command.argv,
              ElementsAre("nsys", "-o", (folder_ / "nsys/ranks/0/run").string(), "./train", "--x"));
  EXPECT_EQ(made.command("rank 0").condition, "started by mpirun; rank 2 likewise");
  EXPECT_THAT(made.limits, ElementsAre("ranks 0, 2 (pipeline.workload.ranks.profile); 1 other rank "
                                       "runs without a profiler"));
  EXPECT_THAT(made.artifacts, ElementsAre("launch.json", "ranks"));
}

TEST_F(RankedStage, GivesOnlyChosenRanksAProfiler) {
  write("nsys/ranks/1/rank.json", "of an earlier launch");
  processes_.expect({"mpirun"}).does([&](const Command&) {
    EXPECT_FALSE(fs::exists(folder_ / "nsys/ranks/1/rank.json"));
    EXPECT_TRUE(fs::is_directory(folder_ / "nsys/ranks/2/recorded"));
    const auto task = from_document<ranks::LaunchTask>(
        read_file(folder_ / "nsys/launch.json").value_or(""), "launch.json");
    ASSERT_TRUE(task) << task.error().to_string();
    ASSERT_EQ(task->ranks.size(), 3U);
    EXPECT_THAT(task->ranks[2].prefix,
                ElementsAre("nsys", "-o", (folder_ / "nsys/ranks/2/run").string()));
    EXPECT_TRUE(task->ranks[2].profiled);
    EXPECT_EQ(task->ranks[2].session, "s-2");
    EXPECT_FALSE(task->ranks[1].profiled);
    EXPECT_TRUE(task->ranks[1].prefix.empty());
    EXPECT_TRUE(task->ranks[1].env.empty());
    EXPECT_EQ(task->ranks[1].log, (folder_ / "nsys/ranks/1/log").string());
    ends(0, 0, {{Severity::Warning, "trace_lost", "process 7 ended early"}});
    ends(1, 0);
    ends(2, 0);
  });
  const auto launched = launch(context(), "nsys", plan(), run_of, std::nullopt, run_);
  ASSERT_TRUE(launched) << launched.error().to_string();
  EXPECT_THAT(run_.sessions(), ElementsAre("s-0", "s-2"));
  ASSERT_EQ(run_.findings().size(), 1U);
  EXPECT_EQ(run_.findings()[0].text, "rank 0: process 7 ended early");
  EXPECT_TRUE(launched->exit_of(2, "").succeeded());
  EXPECT_THAT(read_file(folder_ / "ranks.json").value_or(""), HasSubstr("\"nsys/ranks/2\""));
}

TEST_F(RankedStage, ReportsTheLauncherOnlyIfNoRankExplainsItsFailure) {
  processes_.expect({"mpirun"}).complains("no such host\n").exits(1);
  ASSERT_TRUE(launch(context(), "nsys", plan(), run_of, std::nullopt, run_));
  ASSERT_EQ(run_.findings().size(), 1U);
  EXPECT_THAT(run_.findings()[0].text, HasSubstr("launch (mpirun) exited with code 1"));

  processes_.expect({"mpirun"})
      .does([&](const Command&) {
        ends(0, 0);
        ends(1, 9);
        ends(2, 0);
      })
      .exits(9);
  const auto launched = launch(context(), "nsys", plan(), run_of, std::nullopt, run_);
  ASSERT_TRUE(launched);
  ASSERT_EQ(run_.findings().size(), 2U);
  EXPECT_EQ(run_.findings()[1].text, "rank 1 on n1 exited with code 9");
  EXPECT_EQ(launched->exit_of(1, "").code, 9);
}

TEST_F(RankedStage, LiftsAFileOfOneRankToTheStage) {
  write("nsys/ranks/2/workload/requests.jsonl", "{}\n");
  ASSERT_TRUE(lift_file(setup_, "nsys", 2, "workload/requests.jsonl"));
  ASSERT_TRUE(lift_file(setup_, "nsys", 2, "workload/requests.jsonl")) << "and again";
  EXPECT_EQ(read_file(folder_ / "nsys/workload/requests.jsonl").value_or(""), "{}\n");
  ASSERT_TRUE(lift_file(setup_, "nsys", 2, "absent.json")) << "a rank need not have the file";
  EXPECT_FALSE(fs::exists(folder_ / "nsys/absent.json"));
}

TEST_F(RankedStage, ProfilesTheFirstRankOfEachNode) {
  settings::Ranks& ranks = setup_.settings.pipeline.workload.ranks;
  ranks = {.launcher = settings::RankLauncher::Srun,
           .n = 5,
           .per_node = 2,
           .profile = {settings::RankChoice::Kind::OnePerNode, {}}};
  EXPECT_THAT(observed_ranks(setup_, "nsys"), ElementsAre(0U, 2U, 4U));
  EXPECT_THAT(plan().command("launch").command.argv, ::testing::Contains("--distribution=block"));
  EXPECT_EQ(plan().command("rank 0").condition, "started by srun; ranks 2, 4 likewise");
  processes_.expect({"srun"}).does([&](const Command&) {
    const auto task = from_document<ranks::LaunchTask>(
        read_file(folder_ / "nsys/launch.json").value_or(""), "launch.json");
    ASSERT_TRUE(task) << task.error().to_string();
    ASSERT_EQ(task->ranks.size(), 5U);
    for (const ranks::RankTask& rank : task->ranks) {
      EXPECT_EQ(rank.profiled, rank.rank % 2 == 0) << rank.rank;
      ends(rank.rank, 0);
    }
  });
  ASSERT_TRUE(launch(context(), "nsys", plan(), run_of, std::nullopt, run_));
  EXPECT_TRUE(run_.findings().empty());
}

TEST_F(RankedStage, ObservesEveryRankInTheBaseline) {
  EXPECT_THAT(observed_ranks(setup_, "baseline"), ElementsAre(0U, 1U, 2U));
  EXPECT_THAT(observed_ranks(setup_, "nsys"), ElementsAre(0U, 2U));
  EXPECT_EQ(lead_rank(setup_, "nsys"), 0U);
  EXPECT_EQ(for_rank(setup_, 2).stage_folder("nsys"), folder_ / "nsys/ranks/2");
  EXPECT_EQ(of_rank({{Severity::Note, "c", "text"}}, 2).front().text, "rank 2: text");
}

}  // namespace
}  // namespace profline::stages
