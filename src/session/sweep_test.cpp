#include "session/sweep.h"

#include "session/testing_session.h"

namespace profline::session {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class SweepTest : public SessionTest {
 protected:
  Jobs jobs(std::vector<std::string> overrides, bool multirun = true,
            const std::string& config = "single") {
    auto found =
        jobs_of({.choice = choice(std::move(overrides), config)}, multirun, services().remarks);
    EXPECT_TRUE(found) << found.error().to_string();
    return found ? std::move(*found) : Jobs();
  }
  static std::vector<std::string> lines(const Jobs& of) {
    std::vector<std::string> lines;
    for (const RunRequest& request : of.requests) {
      lines.push_back(job_line(request.job.value_or(99), request.choice.overrides));
    }
    return lines;
  }
};

TEST_F(SweepTest, HasAJobForEachCombination) {
  const Jobs found = jobs({"infer.max_new_tokens=1,2", "device=cpu", "experiment=choice(a,b)"});
  EXPECT_THAT(lines(found), ElementsAre("#0 : infer.max_new_tokens=1 device=cpu experiment=a",
                                        "#1 : infer.max_new_tokens=1 device=cpu experiment=b",
                                        "#2 : infer.max_new_tokens=2 device=cpu experiment=a",
                                        "#3 : infer.max_new_tokens=2 device=cpu experiment=b"));
  ASSERT_TRUE(found.sweep);
  EXPECT_EQ(found.sweep->folder, folder_ / "sweep");
  EXPECT_FALSE(found.sweep->given);
}

TEST_F(SweepTest, WithoutMultirunThereIsOneJob) {
  const Jobs found = jobs({"device=cpu"}, false);
  EXPECT_EQ(found.requests.size(), 1U);
  EXPECT_FALSE(found.sweep);
  EXPECT_FALSE(found.requests.front().job);
}

TEST_F(SweepTest, TheConfigMayAskForASweepAndNameItsParameters) {
  write("conf/many.yaml",
        "defaults: [single, _self_]\n"
        "hydra:\n"
        "  mode: MULTIRUN\n"
        "  sweeper: {params: {infer.max_new_tokens: '1,2', experiment: a}}\n");
  EXPECT_THAT(lines(jobs({}, false, "many")),
              ElementsAre("#0 : infer.max_new_tokens=1 experiment=a",
                          "#1 : infer.max_new_tokens=2 experiment=a"));
  // What is typed replaces a parameter of the same key.
  EXPECT_THAT(lines(jobs({"infer.max_new_tokens=7"}, false, "many")),
              ElementsAre("#0 : infer.max_new_tokens=7 experiment=a"));
}

TEST_F(SweepTest, HydrasOwnOverridesGoToEveryJobUnseen) {
  const Jobs found = jobs({"hydra.sweep.dir=all", "experiment=a,b"});
  EXPECT_THAT(lines(found), ElementsAre("#0 : experiment=a", "#1 : experiment=b"));
  for (const RunRequest& request : found.requests) {
    EXPECT_EQ(request.choice.overrides.front(), "hydra.sweep.dir=all");
  }
  EXPECT_TRUE(found.sweep->given);
}

TEST(JobLine, LeavesOutHydrasOwnSettings) {
  EXPECT_EQ(job_line(3, {"hydra/launcher=slurm", "+hydra.launcher.comment=x", "~hydra.y", "a=1"}),
            "#3 : a=1");
}

TEST_F(SweepTest, WarnsWhereTheConfigSaysOtherwise) {
  jobs({"hydra.mode=RUN", "experiment=a,b"});
  EXPECT_THAT(said_,
              ElementsAre("profline: warning: --multirun overrides hydra.mode, which is RUN"));
}

TEST_F(SweepTest, AConfigThatDoesNotComposeIsReportedWhenTheRunIsPrepared) {
  EXPECT_EQ(jobs({"no.such.key=1"}, false).requests.size(), 1U);
  EXPECT_FALSE(jobs_of({.choice = choice({"no.such.key=1"})}, true, services().remarks));
}

TEST_F(SweepTest, ChecksEveryJobBeforeAnyStarts) {
  const Jobs found = jobs({"pipeline.baseline.timeout=1,-1,never"});
  const auto checked = check_jobs(found.requests, services());
  ASSERT_FALSE(checked);
  std::vector<std::string> problems;
  for (const Error& problem : checked.error().each()) problems.push_back(problem.to_string());
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0], HasSubstr("job 1: override 1:1:27: pipeline.baseline.timeout: must be"));
  EXPECT_THAT(problems[1], HasSubstr("job 2: override 1:1:27: pipeline.baseline.timeout: must be"));
}

TEST_F(SweepTest, JobsOfOneFolderAreRefused) {
  const Jobs found = jobs({"hydra.sweep.subdir=same", "experiment=a,b"});
  const auto checked = check_jobs(found.requests, services());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().to_string(),
            "job 1: hydra.sweep.subdir names the folder of job 0 "
            "again: '" +
                (folder_ / "sweep/same").string() + "'");
}

TEST_F(SweepTest, IsPlannedAsOne) {
  Jobs found = jobs({"experiment=a,b"});
  const auto planned = plan_jobs(found, services());
  ASSERT_TRUE(planned) << planned.error().to_string();
  ASSERT_EQ(planned->size(), 2U);
  EXPECT_EQ(planned->back().plan.setup.folder, folder_ / "sweep/1");
  EXPECT_EQ(planned->back().plan.setup.settings.experiment, "b");
  EXPECT_FALSE(exists("sweep"));
}

TEST_F(SweepTest, RunsOneJobAfterAnother) {
  processes_.expect({}).any_number_of_times();
  const auto done = run_jobs(jobs({"experiment=a,b"}), services());
  ASSERT_TRUE(done) << done.error().to_string();
  ASSERT_EQ(done->runs.size(), 2U);
  EXPECT_EQ(done->worst, ExitCode::Done);
  EXPECT_EQ(done->runs[1].record.experiment, "b");
  EXPECT_EQ(done->runs[1].folder, folder_ / "sweep/1");
  EXPECT_THAT(said_, ElementsAre("2 jobs in " + (folder_ / "sweep").string(),
                                 StartsWith("#0 : experiment=a : ok, "),
                                 StartsWith("#1 : experiment=b : ok, ")));
}

TEST_F(SweepTest, TheWorstJobChoosesTheExitCode) {
  processes_.expect({}).exits(3);
  processes_.expect({}).any_number_of_times();
  const auto done = run_jobs(jobs({"experiment=a,b"}), services());
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->runs.size(), 2U);
  EXPECT_EQ(done->worst, ExitCode::Failed);
}

TEST_F(SweepTest, NothingIsLeftOfASweepWithAJobThatCannotStart) {
  EXPECT_FALSE(run_jobs(jobs({"pipeline.baseline.timeout=1,-1"}), services()));
  EXPECT_FALSE(exists("sweep"));
  EXPECT_THAT(said_, IsEmpty());
}

TEST(JobProblems, AreReportedOnceWithTheJobsThatHaveThem) {
  JobProblems problems;
  EXPECT_TRUE(problems.result());
  for (std::size_t job = 0; job < 11; ++job) problems.add(job, Error(ErrorKind::Config, "bad key"));
  problems.add(3, Error(ErrorKind::NotFound, "no nsys"));
  EXPECT_FALSE(problems.are_enough());
  std::vector<std::string> messages;
  const auto all = problems.result();
  for (const Error& problem : all.error().each()) messages.push_back(problem.to_string());
  EXPECT_THAT(messages,
              ElementsAre("jobs 0, 1, 2, 3, 4, 5, 6, 7 and 3 more: bad key", "job 3: no nsys"));
}

}  // namespace
}  // namespace profline::session
