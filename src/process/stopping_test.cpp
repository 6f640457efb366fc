// Stopping children that do not end by themselves; no process is left, whoever is killed.

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "process/runner.h"
#include "testing/processes/children.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

using process_test::child;
using process_test::has_ended;
using process_test::kLong;
using process_test::kShort;
using process_test::patience_ends_at;
using process_test::pid_said;
using process_test::WhenSaid;
using ::testing::IsEmpty;

const std::string kInt = std::to_string(SIGINT);
const std::string kTerm = std::to_string(SIGTERM);

class Stopping : public ::testing::Test {
 protected:
  /// Runs `script` and interrupts it once it says "ready".
  Exit interrupted(const std::vector<std::string>& script, const StopRules& rules) {
    WhenSaid observer("ready\n", [&] { interrupt.request(); });
    return run(script, rules, observer);
  }
  Exit run(const std::vector<std::string>& script, const StopRules& rules, RunObserver& observer) {
    const auto exit = PosixRunner(interrupt, rules).run(child(script), observer);
    EXPECT_TRUE(exit) << exit.error().to_string();
    EXPECT_THAT(process_test::own_children(), IsEmpty());
    return exit ? *exit : Exit{};
  }

  Interrupt interrupt;
  RunObserver nobody;
};

TEST_F(Stopping, ATimeoutBeginsWithSigint) {
  Command command = child({"wait"});
  command.timeout = kShort;
  const auto exit = PosixRunner(interrupt, patience_ends_at(SIGINT)).run(command);
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(exit->describe(), "timed out after 20 ms and was killed by SIGINT");
  EXPECT_FALSE(exit->succeeded());
}

TEST_F(Stopping, ATimeoutThatDoesNotPassChangesNothing) {
  Command command = child({"exit", "3"});
  command.timeout = std::chrono::milliseconds::max();
  const auto exit = PosixRunner(interrupt).run(command);
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(exit->describe(), "exited with code 3");
}

TEST_F(Stopping, AChildMayFinishOnSigint) {
  const Exit exit =
      interrupted({"exit_on", kInt, "5", "out", "ready", "wait"}, patience_ends_at(SIGINT));
  EXPECT_EQ(exit.describe(), "cancelled and exited with code 5 on SIGINT");
}

TEST_F(Stopping, SigtermFollowsWhenSigintIsIgnored) {
  const Exit exit =
      interrupted({"ignore", kInt, "out", "ready", "wait"}, patience_ends_at(SIGTERM));
  EXPECT_EQ(exit.describe(), "cancelled and killed by SIGTERM");
}

TEST_F(Stopping, SigkillFollowsWhenBothAreIgnored) {
  const Exit exit = interrupted({"ignore", kInt, "ignore", kTerm, "out", "ready", "wait"},
                                patience_ends_at(SIGKILL));
  EXPECT_EQ(exit.describe(), "cancelled and killed by SIGKILL");
}

TEST_F(Stopping, WhatHasNothingToPutInOrderGetsLittleTime) {
  StopRules patient;
  patient.interrupt_grace = patient.terminate_grace = std::chrono::hours(1);
  Command command = child({"ignore", kInt, "ignore", kTerm, "out", "ready", "wait"});
  command.stop_briefly = true;
  WhenSaid observer("ready\n", [&] { interrupt.request_once(); });
  const auto exit = PosixRunner(interrupt, patient).run(command, observer);
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(exit->describe(), "cancelled and killed by SIGKILL");
  EXPECT_FALSE(interrupt.is_stopping_in_order());
}

TEST_F(Stopping, AStoppedChildIsWokenToHearIt) {
  WhenSaid observer("ready\n", [&] {
    ::kill(observer.child.pid, SIGSTOP);
    interrupt.request();
  });
  const Exit exit =
      run({"exit_on", kInt, "5", "out", "ready", "wait"}, patience_ends_at(SIGINT), observer);
  EXPECT_EQ(exit.describe(), "cancelled and exited with code 5 on SIGINT");
}

TEST_F(Stopping, TheWholeGroupHearsIt) {
  const Exit exit = interrupted(
      {"spawn", "3", "pid", "spawned", "wait", "exit_on", kInt, "5", "out", "ready", "wait"},
      patience_ends_at(SIGINT));
  EXPECT_EQ(exit.code, 5);
  EXPECT_TRUE(has_ended(pid_said(exit.tail, "spawned")));
  EXPECT_THAT(exit.leftovers, IsEmpty());
}

/// Interrupts twice: at "ready", and when SIGINT has reached the child.
class Impatient : public RunObserver {
 public:
  explicit Impatient(Interrupt& interrupt) : interrupt_(interrupt) {}
  void output(std::string_view bytes) override {
    said_ += bytes;
    if (said_.find("ready\n") != std::string::npos) interrupt_.request();
  }
  void outlived() override { ADD_FAILURE() << "no time for this"; }
  void abandoned() override { ++looks; }

  int looks = 0;

 private:
  Interrupt& interrupt_;
  std::string said_;
};

TEST_F(Stopping, ASecondInterruptKillsAtOnce) {
  StopRules patient;
  patient.interrupt_grace = patient.terminate_grace = patient.kill_wait = kLong;
  Impatient observer(interrupt);
  const auto start = std::chrono::steady_clock::now();
  const Exit exit = run({"detach", "5", "ignore", kTerm, "pid", "detached", "wait", "ignore", kInt,
                         "ignore", kTerm, "out", "ready", "wait"},
                        patient, observer);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kLong) << "the graces were not skipped";
  EXPECT_EQ(exit.describe(), "cancelled and killed by SIGKILL");
  EXPECT_EQ(observer.looks, 1);
  EXPECT_TRUE(has_ended(pid_said(exit.tail, "detached")));
}

TEST_F(Stopping, NothingStartsOnceInterrupted) {
  interrupt.request();
  const auto exit = PosixRunner(interrupt).run({.argv = {"/bin/true"}});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().kind(), ErrorKind::Cancelled);
  EXPECT_EQ(exit.error().to_string(), "cancelled before '/bin/true' was started");
}

TEST_F(Stopping, WhatAChildLeavesBehindGetsSigterm) {
  const Exit exit = run({"detach", "3", "pid", "detached", "wait", "exit", "3"},
                        patience_ends_at(SIGTERM), nobody);
  EXPECT_EQ(exit.describe(), "exited with code 3");
  const pid_t detached = pid_said(exit.tail, "detached");
  EXPECT_TRUE(has_ended(detached));
  const Leftover expected{detached, "process_test_ch", false};
  EXPECT_EQ(exit.leftovers, std::vector{expected});
}

TEST_F(Stopping, WhatIgnoresSigtermGetsSigkill) {
  const Exit exit = run({"detach", "5", "ignore", kTerm, "pid", "detached", "wait"},
                        patience_ends_at(SIGKILL), nobody);
  EXPECT_EQ(exit.describe(), "exited with code 0");
  const pid_t detached = pid_said(exit.tail, "detached");
  EXPECT_TRUE(has_ended(detached));
  EXPECT_EQ(exit.describe_leftovers(), "left 1 orphaned process, ended: process_test_ch (pid " +
                                           std::to_string(detached) + ")");
}

TEST_F(Stopping, EveryGenerationEnds) {
  const Exit exit =
      interrupted({"detach", "11", "spawn", "3", "pid", "one", "wait", "detach", "3", "pid", "two",
                   "wait", "wait", "pid", "three", "out", "ready", "wait"},
                  patience_ends_at(SIGINT));
  EXPECT_TRUE(has_ended(pid_said(exit.tail, "one")));
  EXPECT_TRUE(has_ended(pid_said(exit.tail, "two")));
  EXPECT_TRUE(has_ended(pid_said(exit.tail, "three")));
  EXPECT_EQ(exit.leftovers.size(), 3U) << exit.describe_leftovers();
}

/// Ends what outlived the child in its own way, as `nsys shutdown` does.
class OwnWay : public RunObserver {
 public:
  void output(std::string_view bytes) override { said += bytes; }
  void outlived() override {
    const pid_t detached = pid_said(said, "detached");
    ASSERT_GT(detached, 0) << said;
    ::kill(detached, SIGUSR1);
    ended = has_ended(detached);
  }

  std::string said;
  bool ended = false;
};

TEST_F(Stopping, AnObserverMayEndThemFirst) {
  OwnWay observer;
  const Exit exit =
      run({"detach", "6", "exit_on", std::to_string(SIGUSR1), "0", "pid", "detached", "wait"},
          patience_ends_at(SIGTERM), observer);
  EXPECT_TRUE(observer.ended);
  EXPECT_EQ(exit.describe(), "exited with code 0");
  EXPECT_THAT(exit.leftovers, IsEmpty());
}

TEST_F(Stopping, ALostGuardianIsToldAndLeavesNothing) {
  WhenSaid observer("ready\n", [&] {
    ProcessStat process;
    ASSERT_TRUE(read_process(observer.child.pid, process));
    ASSERT_NE(process.parent, ::getpid());
    ::kill(process.parent, SIGKILL);
  });
  const Exit exit = run({"detach", "5", "ignore", kTerm, "pid", "detached", "wait", "spawn", "3",
                         "pid", "spawned", "wait", "out", "ready", "wait"},
                        patience_ends_at(SIGKILL), observer);
  EXPECT_EQ(exit.describe(), "lost its guardian process and was killed by SIGKILL");
  EXPECT_TRUE(has_ended(pid_said(exit.tail, "detached")));
  EXPECT_TRUE(has_ended(pid_said(exit.tail, "spawned")));
  EXPECT_EQ(exit.leftovers.size(), 2U) << exit.describe_leftovers();
}

/// The reading end of a named pipe, which another process writes its log to.
class LogPipe {
 public:
  explicit LogPipe(const std::filesystem::path& path) {
    ::mkfifo(path.c_str(), 0600);
    // Writable as well, so that it does not reach its end while nobody else has it open.
    fd_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  }

  /// Everything up to and including `text`; less if it does not arrive.
  std::string until(const std::string& text) {
    std::string said;
    pollfd event{fd_.get(), POLLIN, 0};
    while (said.find(text) == std::string::npos &&
           ::poll(&event, 1, static_cast<int>(kLong.count())) == 1) {
      std::string bytes(4096, '\0');
      const ssize_t length = ::read(fd_.get(), bytes.data(), bytes.size());
      said.append(bytes, 0, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    }
    return said;
  }

 private:
  FileDescriptor fd_;
};

TEST_F(Stopping, NothingOutlivesOurOwnSigkill) {
  const testing::TempDir folder;
  LogPipe log(folder / "log");
  const Command supervisor = child({"supervise", (folder / "log").string(),
                                    "detach",    "3",
                                    "pid",       "detached",
                                    "wait",      "detach",
                                    "5",         "ignore",
                                    kTerm,       "pid",
                                    "stubborn",  "wait",
                                    "spawn",     "3",
                                    "pid",       "spawned",
                                    "wait",      "pid",
                                    "main",      "out",
                                    "ready",     "wait"});
  std::vector<char*> argv;
  for (const std::string& word : supervisor.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t supervisor_pid = 0;
  ASSERT_EQ(::posix_spawn(&supervisor_pid, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  const std::string said = log.until("ready\n");
  ProcessStat main;
  EXPECT_TRUE(read_process(pid_said(said, "main"), main)) << said;

  ::kill(supervisor_pid, SIGKILL);
  EXPECT_TRUE(has_ended(supervisor_pid));
  for (const char* name : {"main", "spawned", "detached", "stubborn"}) {
    EXPECT_TRUE(has_ended(pid_said(said, name))) << name;
  }
  EXPECT_TRUE(has_ended(main.parent)) << "the guardian";
}

}  // namespace
}  // namespace profline
