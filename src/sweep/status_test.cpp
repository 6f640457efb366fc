#include "sweep/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/run_folder.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Where = Seen::Where;

Task task_that(std::vector<std::pair<End, std::int64_t>> ends, std::int64_t submission = 1) {
  Task task;
  for (const auto& [end, code] : ends) {
    Attempt attempt{.submission = submission, .started = "s", .end = end};
    if (end != End::Open) {
      attempt.exit_code = code;
      attempt.ended = "e";
    }
    task.attempts.push_back(attempt);
  }
  return task;
}

TEST(JobStatus, FollowsFromWhatTheJobWroteAndWhatIsSeenOfIt) {
  struct Case {
    std::string_view name;
    Task task;
    Seen seen;
    JobState state;
    std::string_view why;
  };
  const Case cases[] = {
      {"in the queue",
       {},
       {Where::Waiting, "PENDING", "Resources"},
       JobState::Pending,
       "Resources"},
      {"held",
       {},
       {Where::Waiting, "PENDING", "launch failed requeued held"},
       JobState::Held,
       "Slurm holds it: launch failed requeued held"},
      {"about to write", {}, {Where::Running, "RUNNING"}, JobState::Running, "is starting"},
      {"at work", task_that({{End::Open, 0}}), {Where::Running}, JobState::Running, ""},
      {"done, still in the queue", task_that({{End::Done, 0}}), {Where::Running}, JobState::Ok, ""},
      {"done and forgotten", task_that({{End::Done, 0}}), {Where::Gone}, JobState::Ok, ""},
      {"done, nobody answers", task_that({{End::Done, 0}}), {Where::Unknown}, JobState::Ok, ""},
      {"failed", task_that({{End::Done, 3}}), {Where::Gone}, JobState::Failed, ""},
      {"requeued at its time limit",
       task_that({{End::TimeLimit, 130}}),
       {Where::Waiting, "PENDING", "BeginTime"},
       JobState::Pending,
       "queued again after its time limit"},
      {"requeued after a dead node",
       task_that({{End::Open, 0}}),
       {Where::Waiting, "PENDING", "BeginTime"},
       JobState::Pending,
       "queued again after it was killed or its node failed"},
      {"running again",
       task_that({{End::TimeLimit, 130}, {End::Open, 0}}),
       {Where::Running},
       JobState::Running,
       ""},
      {"out of time",
       task_that({{End::TimeLimit, 130}}),
       {Where::Gone, "FAILED", "NonZeroExitCode"},
       JobState::TimedOut,
       "reached its time limit"},
      {"stopped by Slurm at its time limit",
       task_that({{End::Stopped, 130}}),
       {Where::Gone, "TIMEOUT", "TimeLimit"},
       JobState::TimedOut,
       "ended at its time limit by Slurm"},
      {"killed by Slurm at its time limit",
       task_that({{End::Open, 0}}),
       {Where::Gone, "TIMEOUT", "TimeLimit"},
       JobState::TimedOut,
       "ended at its time limit by Slurm"},
      {"cancelled while it ran",
       task_that({{End::Stopped, 130}}),
       {Where::Gone, "CANCELLED"},
       JobState::Cancelled,
       ""},
      {"cancelled before it started",
       {},
       {Where::Gone, "CANCELLED"},
       JobState::Cancelled,
       "before it started"},
      {"preempted and requeued",
       task_that({{End::Preempted, 130}}),
       {Where::Waiting, "PENDING", "BeginTime"},
       JobState::Pending,
       "queued again after it was preempted"},
      {"preempted and dropped",
       task_that({{End::Preempted, 130}}),
       {Where::Gone, "PREEMPTED"},
       JobState::Killed,
       "it was preempted and not queued again"},
      {"stopped by Slurm, not by the user",
       task_that({{End::Stopped, 130}}),
       {Where::Gone, "NODE_FAIL", "NodeDown"},
       JobState::Killed,
       "Slurm says NODE_FAIL (NodeDown)"},
      {"stopped by hand on its node",
       task_that({{End::Stopped, 130}}),
       {Where::Gone, "FAILED", "NonZeroExitCode"},
       JobState::Cancelled,
       "Slurm says FAILED (NonZeroExitCode)"},
      {"out of memory",
       task_that({{End::Open, 0}}),
       {Where::Gone, "OUT_OF_MEMORY"},
       JobState::Killed,
       "ended without a record: Slurm says OUT_OF_MEMORY"},
      {"killed and forgotten",
       task_that({{End::Open, 0}}),
       {Where::Gone},
       JobState::Killed,
       "ended without a record"},
      {"never started",
       {},
       {Where::Gone, "NODE_FAIL", "NodeDown"},
       JobState::Killed,
       "it never started: Slurm says NODE_FAIL (NodeDown)"},
      {"no answer", {}, {Where::Unknown}, JobState::Unknown, "Slurm does not answer"},
      {"no answer, but it started",
       task_that({{End::Open, 0}}),
       {Where::Unknown},
       JobState::Unknown,
       "it started, and Slurm does not answer"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const JobStatus status = status_of(
        c.task, {.number = 1, .launcher = LauncherKind::Slurm, .jobs = {0}, .slurm_job = "7"},
        c.seen);
    EXPECT_EQ(status.state, c.state);
    EXPECT_EQ(status.why, c.why);
    EXPECT_EQ(status.attempts, static_cast<std::int64_t>(c.task.attempts.size()));
  }
}

TEST(JobStatus, OfARetryDoesNotDependOnEarlierSubmissions) {
  const Submission retry{.number = 2, .jobs = {0}};
  const Task failed = task_that({{End::Done, 1}});
  EXPECT_EQ(status_of(failed, retry, {Where::Waiting}).state, JobState::Pending);
  EXPECT_EQ(status_of(failed, retry, {Where::Waiting}).exit_code, std::nullopt);
}

TEST(JobStatus, RemembersACancellationThatSlurmForgot) {
  const Submission cancelled{.number = 1, .jobs = {0}, .cancelled = "t"};
  EXPECT_EQ(status_of({}, cancelled, {Where::Gone}).state, JobState::Cancelled);
}

TEST(Seen, TranslatesSlurmsStates) {
  EXPECT_EQ(seen_by_slurm(slurm::Task{"PENDING", "Priority"}, {}).where, Where::Waiting);
  EXPECT_EQ(seen_by_slurm(slurm::Task{"COMPLETING", ""}, {}).where, Where::Running);
  EXPECT_EQ(seen_by_slurm(slurm::Task{"NODE_FAIL", ""}, {}), (Seen{Where::Gone, "NODE_FAIL", ""}));
  EXPECT_EQ(seen_by_slurm({}, slurm::Task{"TIMEOUT", ""}), (Seen{Where::Gone, "TIMEOUT", ""}));
  EXPECT_EQ(seen_by_slurm({}, {}), Seen{Where::Gone});
  for (const char* late : {"RUNNING", "PENDING", "COMPLETING", "REQUEUED"}) {
    EXPECT_EQ(seen_by_slurm({}, slurm::Task{late, "Priority"}), Seen{Where::Gone}) << late;
  }
}

TEST(Seen, KnowsTheProcessesOfThisMachine) {
  Submission here{.number = 1, .jobs = {0}};
  here.host = run::host_name();
  here.boot_id = run::boot_id();
  here.process = run::own_process();
  EXPECT_EQ(seen_here({}, here).where, Where::Waiting);
  here.cancelled = "t";
  EXPECT_EQ(seen_here({}, here).where, Where::Gone);
  here.cancelled.clear();
  Task task = task_that({{End::Open, 0}});
  task.attempts[0].host = here.host;
  task.attempts[0].boot_id = here.boot_id;
  task.attempts[0].process = here.process;
  EXPECT_EQ(seen_here(task, here).where, Where::Running);
  task.attempts[0].process.start_ticks += 1;
  EXPECT_EQ(seen_here(task, here).where, Where::Gone);
  here.process.start_ticks += 1;
  EXPECT_EQ(seen_here({}, here).where, Where::Gone);
  here.host = "elsewhere";
  EXPECT_EQ(seen_here({}, here).where, Where::Unknown);
}

class Observation : public ::testing::Test {
 protected:
  Observation() {
    Sweep sweep;
    sweep.launcher = LauncherKind::Slurm;
    for (std::int64_t i = 0; i < 3; ++i)
      sweep.jobs.push_back({i, std::to_string(i), {}, {}, "", {}});
    sweep.submissions = {
        {.number = 1, .launcher = LauncherKind::Slurm, .jobs = {0, 1, 2}, .slurm_job = "7"}};
    EXPECT_TRUE(SweepLock::take(folder_.path())->write(sweep));
    end(0, ExitCode::Done);
  }
  void end(std::int64_t job, ExitCode code) {
    const Interrupt interrupt;
    auto claim = TaskClaim::take(folder_.path(), job, interrupt, {});
    EXPECT_TRUE(claim->begin({.submission = 1}));
    EXPECT_TRUE(claim->end(End::Done, code, "why", "t"));
  }
  std::vector<JobState> states() {
    auto observed = observe(folder_.path(), processes_);
    EXPECT_TRUE(observed) << observed.error().to_string();
    std::vector<JobState> states;
    for (const Job& job : observed->sweep.jobs) states.push_back(job.status.state);
    notes_ = observed->notes;
    return states;
  }

  testing::TempDir folder_;
  testing::FakeProcesses processes_;
  std::vector<std::string> notes_;
};

TEST_F(Observation, AsksSlurmOnceAboutJobsThatHaveNotEnded) {
  processes_.expect({"squeue"}).prints("7|1|RUNNING|None\n7|2|PENDING|Resources\n");
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Running, JobState::Pending));
  EXPECT_EQ(processes_.commands().size(), 1U);
}

TEST_F(Observation, AsksNobodyOnceAllHaveEnded) {
  end(1, ExitCode::Failed);
  end(2, ExitCode::Done);
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Failed, JobState::Ok));
  EXPECT_THAT(processes_.commands(), IsEmpty());
}

TEST_F(Observation, SeesAnEndThatWasWrittenWhileSlurmAnswered) {
  processes_.expect({"squeue"})
      .does([&](const Command&) {
        end(1, ExitCode::Done);
        end(2, ExitCode::BadInput);
      })
      .complains("Invalid job id specified")
      .exits(1);
  processes_.expect({"sacct"}).exits(1);
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Ok, JobState::Failed));
}

TEST_F(Observation, UsesAccountingWhereItAnswers) {
  processes_.expect({"squeue"}).complains("Invalid job id specified").exits(1);
  processes_.expect({"sacct"}).prints("7_1|NODE_FAIL|0:0\n7_2|CANCELLED by 0|0:0\n");
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Killed, JobState::Cancelled));
}

TEST_F(Observation, SeesAJobThatIsAtWorkAlthoughSlurmHasForgottenIt) {
  const auto forget = [&] {
    processes_.expect({"squeue"}).complains("Invalid job id specified").exits(1);
    processes_.expect({"sacct"}).exits(1);
  };
  {
    const Interrupt interrupt;
    auto claim = TaskClaim::take(folder_.path(), 1, interrupt, {});
    ASSERT_TRUE(claim->begin({.submission = 1}));
    forget();
    EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Running, JobState::Killed));
  }
  forget();
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Killed, JobState::Killed));
}

TEST_F(Observation, KeepsTheEndsThatWereFoundOnceSlurmHasForgottenTheJob) {
  auto sweep = read_sweep(folder_.path());
  ASSERT_TRUE(sweep);
  sweep->jobs[1].status = {.state = JobState::TimedOut, .why = "ended at its time limit by Slurm"};
  ASSERT_TRUE(SweepLock::take(folder_.path())->write(*sweep));
  const auto forget = [&] {
    processes_.expect({"squeue"}).complains("Invalid job id specified").exits(1);
    processes_.expect({"sacct"}).exits(1);
  };
  forget();
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::TimedOut, JobState::Killed));
  const Interrupt interrupt;
  ASSERT_TRUE(TaskClaim::take(folder_.path(), 1, interrupt, {})->begin({.submission = 1}));
  forget();
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Killed, JobState::Killed))
      << "Slurm started it again";
}

TEST_F(Observation, SaysWhenSlurmDoesNotAnswer) {
  processes_.expect({"squeue"}).complains("Unable to contact slurm controller").exits(1);
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Unknown, JobState::Unknown));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("Unable to contact slurm controller")));
}

TEST_F(Observation, FindsTheJobIdThatASubmissionCouldNotRecord) {
  auto sweep = read_sweep(folder_.path());
  ASSERT_TRUE(sweep);
  Submission& submission = sweep->submissions[0];
  submission.slurm_job.clear();
  submission.host = run::host_name();
  submission.boot_id = run::boot_id();
  submission.process = run::own_process();
  ASSERT_TRUE(SweepLock::take(folder_.path())->write(*sweep));
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Pending, JobState::Pending))
      << "sbatch may still answer";
  submission.process.start_ticks += 1;
  ASSERT_TRUE(SweepLock::take(folder_.path())->write(*sweep));
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Killed, JobState::Killed));

  const Interrupt interrupt;
  ASSERT_TRUE(TaskClaim::take(folder_.path(), 1, interrupt, {})
                  ->begin({.submission = 1, .slurm_task = "7_1"}));
  processes_.expect({"squeue", "--noheader", "--array", "--states=all", "--jobs=7"})
      .prints("7|1|RUNNING|None\n7|2|PENDING|Resources\n");
  EXPECT_THAT(states(), ElementsAre(JobState::Ok, JobState::Running, JobState::Pending));
}

TEST_F(Observation, WithoutAskingKeepsTheEndsThatWereFound) {
  auto sweep = read_sweep(folder_.path());
  ASSERT_TRUE(sweep);
  const auto progress = [&] {
    EXPECT_TRUE(SweepLock::take(folder_.path())->write(*sweep));
    const auto read = read_progress(folder_.path());
    EXPECT_TRUE(read) << read.error().to_string();
    std::vector<JobState> states;
    for (const Job& job : read->jobs) states.push_back(job.status.state);
    return states;
  };
  EXPECT_THAT(progress(), ElementsAre(JobState::Ok, JobState::Pending, JobState::Pending));
  sweep->jobs[1].status = {.state = JobState::Killed, .why = "Slurm says NODE_FAIL"};
  sweep->jobs[2].status = {.state = JobState::Held};
  EXPECT_THAT(progress(), ElementsAre(JobState::Ok, JobState::Killed, JobState::Pending));
  sweep->submissions[0].cancelled = "t";
  EXPECT_THAT(progress(), ElementsAre(JobState::Ok, JobState::Killed, JobState::Cancelled));
  const Interrupt interrupt;
  ASSERT_TRUE(TaskClaim::take(folder_.path(), 1, interrupt, {})->begin({.submission = 1}));
  EXPECT_THAT(progress(), ElementsAre(JobState::Ok, JobState::Running, JobState::Cancelled))
      << "Slurm started it again";
}

TEST(WorstCode, IsThatOfTheWorstJob) {
  Sweep sweep;
  sweep.jobs.resize(3);
  sweep.jobs[0].status.state = JobState::Ok;
  EXPECT_EQ(worst_code(sweep), ExitCode::Done);
  sweep.jobs[1].status = {.state = JobState::Failed, .exit_code = 3};
  EXPECT_EQ(worst_code(sweep), ExitCode::Absent);
  sweep.jobs[2].status.state = JobState::Cancelled;
  EXPECT_EQ(worst_code(sweep), ExitCode::Interrupted);
}

}  // namespace
}  // namespace profline::sweep
