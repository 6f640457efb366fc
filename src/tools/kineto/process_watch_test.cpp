#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include <gtest/gtest.h>

#include "process/process_table.h"
#include "testing/fake_clock.h"
#include "tools/kineto/traced_processes.h"

namespace profline::kineto {
namespace {

/// A child that waits for its end.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ == 0) {
      while (true) pause();
    }
  }
  ~Sleeper() { end(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

bool knows(const ProcessWatch& watch, pid_t pid) {
  return std::any_of(watch.processes().begin(), watch.processes().end(),
                     [&](const WatchedProcess& process) { return process.pid == pid; });
}

TEST(KinetoProcessWatch, SeesTheChildAndItsProcessesOncePerSecond) {
  testing::FakeClock clock;
  ProcessWatch watch(clock);
  watch.output("");
  EXPECT_TRUE(watch.processes().empty()) << "nothing was started yet";
  watch.started({getpid(), 0});  // this test is the child, with one of its own
  const Sleeper sleeper;
  watch.output("");
  EXPECT_TRUE(knows(watch, getpid()));
  EXPECT_TRUE(knows(watch, sleeper.pid()));
  EXPECT_FALSE(knows(watch, getppid()));
  const Sleeper later;
  watch.output("");
  EXPECT_FALSE(knows(watch, later.pid())) << "no second has passed";
  clock.advance(std::chrono::seconds(1));
  watch.output("");
  EXPECT_TRUE(knows(watch, later.pid()));
  for (const WatchedProcess& process : watch.processes()) {
    EXPECT_FALSE(process.has_torch);
    EXPECT_EQ(process.is_copy, process.pid != getpid()) << "they were forked from this test";
  }
}

TEST(KinetoProcessWatch, KeepsProcessesThatEnded) {
  testing::FakeClock clock;
  ProcessWatch watch(clock);
  watch.started({getpid(), 0});
  Sleeper sleeper;
  watch.output("");
  const pid_t pid = sleeper.pid();
  const Clock::Steady seen = clock.now();
  sleeper.end();
  clock.advance(std::chrono::seconds(5));
  watch.output("");
  ASSERT_TRUE(knows(watch, pid));
  for (const WatchedProcess& process : watch.processes()) {
    EXPECT_EQ(process.last_seen, process.pid == pid ? seen : clock.now());
  }
}

}  // namespace
}  // namespace profline::kineto
