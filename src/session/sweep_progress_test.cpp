#include <algorithm>

#include "session/sweep.h"
#include "session/testing_session.h"
#include "sweep/status.h"

namespace profline::session {
namespace {

using sweep::JobState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A sweep of two jobs that Slurm has, of which the first is done.
class SweepProgress : public SessionTest {
 protected:
  SweepProgress() {
    sweep::Sweep record;
    record.launcher = sweep::LauncherKind::Slurm;
    record.jobs = {{0, "0", {"a=0"}, {}, "", {}}, {1, "1", {"a=1"}, {}, "", {}}};
    record.submissions = {
        {.number = 1, .launcher = sweep::LauncherKind::Slurm, .jobs = {0, 1}, .slurm_job = "7"}};
    EXPECT_TRUE(sweep::SweepLock::take(sweep_)->write(record));
    end(0);
  }
  void end(std::int64_t job) const {
    const Interrupt interrupt;
    auto claim = sweep::TaskClaim::take(sweep_, job, interrupt, {});
    EXPECT_TRUE(claim->begin({.submission = 1}));
    EXPECT_TRUE(claim->end(sweep::End::Done, ExitCode::Done, "", "t"));
  }
  void queue_shows(const std::string& text) { processes_.expect({"squeue"}).prints(text); }
  void queue_has_nothing() {
    processes_.expect({"squeue"}).complains("Invalid job id specified").exits(1);
    processes_.expect({"sacct"}).exits(1);
  }
  std::vector<std::string> wait() {
    std::vector<std::string> ends;
    const auto done = wait_for_sweep(sweep_, services(), [&](const auto&, const sweep::Job& job) {
      ends.push_back(std::to_string(job.number) + " " +
                     std::string(schema::name_of(job.status.state)));
    });
    EXPECT_TRUE(done) << done.error().to_string();
    return ends;
  }

  std::filesystem::path sweep_ = folder_ / "sweep";
};

TEST_F(SweepProgress, AJobThatSlurmMissesForAMomentIsWaitedFor) {
  queue_has_nothing();
  processes_.expect({"squeue"}).does([&](const Command&) { end(1); }).prints("7|1|RUNNING|None\n");
  processes_.expect({"squeue"}).prints("").any_number_of_times();  // for leftovers
  EXPECT_THAT(wait(), ElementsAre("0 ok", "1 ok"));
}

TEST_F(SweepProgress, AJobThatSlurmMissesTwiceIsOver) {
  queue_has_nothing();
  queue_has_nothing();
  processes_.expect({"squeue"}).prints("").any_number_of_times();  // for leftovers
  EXPECT_THAT(wait(), ElementsAre("0 ok", "1 killed"));
}

TEST_F(SweepProgress, AfterACancellationTheReportSaysSo) {
  queue_shows("7|1|PENDING|Resources\n");
  processes_.expect({"scancel", "7_[1]"});
  queue_shows("7|1|CANCELLED|None\n");
  const auto stopped = cancel_sweep(sweep_, services());
  ASSERT_TRUE(stopped) << stopped.error().to_string();
  EXPECT_EQ(*stopped, 1U);
  EXPECT_THAT(text_of("sweep/sweep.md"), HasSubstr("2 jobs: 1 ok, 1 cancelled."));
}

TEST_F(SweepProgress, AFolderWhoseJobsAreHeldIsNotUsedAgain) {
  queue_shows("7|1|PENDING|JobHeldUser\n");
  auto jobs = jobs_of({.choice = choice({"hydra.sweep.dir=sweep", "experiment=a,b"})}, true,
                      services().remarks);
  ASSERT_TRUE(jobs) << jobs.error().to_string();
  const auto done = run_jobs(std::move(*jobs), services());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().to_string(),
            "hydra.sweep.dir: '" + sweep_.string() +
                "' holds a sweep whose jobs have not all ended; choose another folder, or see "
                "'profline sweep status'");
}

}  // namespace
}  // namespace profline::session
