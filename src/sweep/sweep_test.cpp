#include "sweep/sweep.h"

#include <fcntl.h>
#include <sys/file.h>

#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/names/artifact_names.h"
#include "testing/temp_dir.h"

namespace profline::sweep {
namespace {

Sweep small_sweep() {
  Sweep sweep;
  sweep.launcher = LauncherKind::Slurm;
  sweep.settings.partition = "gpu";
  sweep.settings.additional_parameters = {{"nice", Node::integer(3)}};
  for (std::int64_t i = 0; i < 3; ++i) {
    sweep.jobs.push_back({i, std::to_string(i), {"a=" + std::to_string(i)}, {}, "", {}});
  }
  sweep.submissions = {{.number = 1, .jobs = {0, 1, 2}, .slurm_job = "7"},
                       {.number = 2, .jobs = {1}, .slurm_job = "9"}};
  return sweep;
}

TEST(SweepFile, ReadsBackWhatWasWritten) {
  const testing::TempDir folder;
  const Sweep written = small_sweep();
  {
    const auto lock = SweepLock::take(folder.path());
    ASSERT_TRUE(lock) << lock.error().to_string();
    ASSERT_TRUE(lock->write(written));
  }
  const auto read = read_sweep(folder.path());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, written);
  EXPECT_EQ(read->submission_of(0)->number, 1);
  EXPECT_EQ(read->submission_of(1)->number, 2);
  EXPECT_EQ(read->submission_of(5), nullptr);
}

TEST(SweepFile, IsMissedByName) {
  const testing::TempDir folder;
  const auto read = read_sweep(folder.path());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(read.error().to_string(), "'" + folder.path().string() +
                                          "' is not the folder of a sweep: it has no " +
                                          run::files::kSweep);
}

TEST(SweepLock, OfManyThatReportOneWaitsForAll) {
  const testing::TempDir folder;
  auto working = std::make_unique<Result<SweepLock>>(SweepLock::take(folder.path()));
  ASSERT_TRUE(*working);
  auto waiting = std::async(std::launch::async, [&] {
    for (;;) {  // a look at the lock may come in its way
      auto lock = SweepLock::take_for_report(folder.path());
      if (!lock || *lock) return lock;
    }
  });
  const auto turn = folder / run::folders::kSweepTasks / "report.lock";
  const auto has_turn = [&] {
    const FileDescriptor file = open_descriptor(turn.c_str(), O_RDWR, 0);
    return file.is_open() && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0;
  };
  while (!has_turn()) std::this_thread::yield();
  const auto third = SweepLock::take_for_report(folder.path());
  ASSERT_TRUE(third) << third.error().to_string();
  EXPECT_FALSE(third->has_value()) << "the second will find what the third recorded";
  working.reset();
  const auto second = waiting.get();
  ASSERT_TRUE(second && *second);
  EXPECT_FALSE(has_turn()) << "what is recorded from now on needs another report";
}

TEST(TaskClaim, RecordsAttemptsAndHowTheyEnded) {
  const testing::TempDir folder;
  const Interrupt interrupt;
  {
    auto claim = TaskClaim::take(folder.path(), 4, interrupt, {});
    ASSERT_TRUE(claim) << claim.error().to_string();
    EXPECT_FALSE(finished(claim->task, 1));
    ASSERT_TRUE(claim->begin({.submission = 1}));
  }  // killed
  {
    auto claim = TaskClaim::take(folder.path(), 4, interrupt, {});
    ASSERT_TRUE(claim);
    EXPECT_FALSE(finished(claim->task, 1));
    ASSERT_TRUE(claim->begin({.submission = 1}));
    ASSERT_TRUE(claim->end(End::TimeLimit, ExitCode::Interrupted, "", "t1"));
    EXPECT_EQ(timeouts(claim->task, 1), 1);
    ASSERT_TRUE(claim->begin({.submission = 1}));
    ASSERT_TRUE(claim->end(End::Done, ExitCode::Failed, "stage nsys failed", "t2"));
  }
  const auto task = read_task(folder.path(), 4);
  ASSERT_TRUE(task);
  ASSERT_EQ(task->attempts.size(), 3U);
  EXPECT_EQ(task->attempts[0].why, "ended without a record: it was killed, or its node failed");
  EXPECT_EQ(finished(*task, 1), ExitCode::Failed);
  EXPECT_EQ(finished(*task, 2), std::nullopt) << "a retry is a new submission";
  EXPECT_EQ(timeouts(*task, 2), 0);
}

TEST(TaskClaim, IsHeldByOneProcessAtATime) {
  const testing::TempDir folder;
  Interrupt interrupt;
  auto first =
      std::make_unique<Result<TaskClaim>>(TaskClaim::take(folder.path(), 0, interrupt, {}));
  ASSERT_TRUE(*first);
  std::promise<void> waiting;
  auto second = std::async(std::launch::async, [&] {
    return TaskClaim::take(folder.path(), 0, interrupt, [&] { waiting.set_value(); });
  });
  waiting.get_future().wait();
  ASSERT_TRUE((*first)->begin({.submission = 1}));
  ASSERT_TRUE((*first)->end(End::Done, ExitCode::Done, "", "t"));
  first.reset();
  const auto taken = second.get();
  ASSERT_TRUE(taken);
  EXPECT_EQ(finished(taken->task, 1), ExitCode::Done) << "the second finds the first one's result";
}

TEST(TaskClaim, WaitingEndsWithAnInterrupt) {
  const testing::TempDir folder;
  Interrupt interrupt;
  const auto first = TaskClaim::take(folder.path(), 0, interrupt, {});
  ASSERT_TRUE(first);
  const auto second = TaskClaim::take(folder.path(), 0, interrupt, [&] { interrupt.request(); });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind(), ErrorKind::Cancelled);
}

}  // namespace
}  // namespace profline::sweep
