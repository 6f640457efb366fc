// What every ProcessRunner promises, checked for the real one and for the fake.

#include <fstream>
#include <iterator>
#include <memory>

#include <gtest/gtest.h>

#include "process/runner.h"
#include "testing/paths.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::testing {
namespace {

/// What the child of a case does; the real child reads it from its arguments, the fake is scripted.
struct Deeds {
  std::string out, err;
  int code = 0;
};

class RealWorld {
 public:
  ProcessRunner& runner() { return runner_; }
  Command command(const Deeds& deeds) {
    return {.argv = {(binary_dir() / "tests/process_test_child").string(), "out", deeds.out, "err",
                     deeds.err, "exit", std::to_string(deeds.code)}};
  }
  Command missing_program() { return {.argv = {"profline-no-such-program"}}; }

 private:
  Interrupt interrupt_;
  PosixRunner runner_{interrupt_};
};

class FakeWorld {
 public:
  ProcessRunner& runner() { return runner_; }
  Command command(const Deeds& deeds) {
    runner_.expect({"child"})
        .prints(deeds.out + '\n')
        .complains(deeds.err + '\n')
        .exits(deeds.code);
    return {.argv = {"child"}};
  }
  Command missing_program() {
    runner_.expect({"none"}).cannot_start(Error(ErrorKind::NotFound, "cannot run 'none'"));
    return {.argv = {"none"}};
  }

 private:
  FakeProcesses runner_;
};

class Notes : public RunObserver {
 public:
  void started(const ProcessId& child) override {
    EXPECT_GT(child.pid, 0);
    EXPECT_GT(child.start_ticks, 0U);
    events += "started ";
  }
  void output(std::string_view bytes) override {
    if (bytes.empty()) return;
    if (said.empty()) events += "output";
    said += bytes;
  }
  void outlived() override { events += "outlived "; }

  std::string events;
  std::string said;
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename World>
class RunnerContract : public ::testing::Test {
 protected:
  World world;
  TempDir folder;
};

using Worlds = ::testing::Types<RealWorld, FakeWorld>;
TYPED_TEST_SUITE(RunnerContract, Worlds);

TYPED_TEST(RunnerContract, AChildThatFailsIsAnExit) {
  const auto exit = this->world.runner().run(this->world.command({"a", "b", 7}));
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(exit->describe(), "exited with code 7");
  EXPECT_FALSE(exit->succeeded());
  EXPECT_EQ(exit->tail, "a\nb\n");
  EXPECT_GT(exit->pid, 0);
}

TYPED_TEST(RunnerContract, AProgramThatIsNotThereIsAnError) {
  const auto exit = this->world.runner().run(this->world.missing_program());
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().kind(), ErrorKind::NotFound);
}

TYPED_TEST(RunnerContract, WhatNoChildCouldSeeIsAnError) {
  const auto exit = this->world.runner().run({.argv = {}});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().to_string(), "the command has no program to run");
}

TYPED_TEST(RunnerContract, OutputIsAppendedToTheLog) {
  Command command = this->world.command({"a", "b"});
  command.log = this->folder / "log";
  std::ofstream(command.log) << "before\n";
  const auto exit = this->world.runner().run(command);
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_TRUE(exit->succeeded());
  EXPECT_EQ(exit->tail, "a\nb\n");
  EXPECT_EQ(contents(command.log), "before\na\nb\n");
}

TYPED_TEST(RunnerContract, StdoutAloneReplacesItsFile) {
  Command command = this->world.command({"a", "b"});
  command.log = this->folder / "log";
  command.out = this->folder / "out";
  std::ofstream(command.out) << "before\n";
  const auto exit = this->world.runner().run(command);
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(exit->tail, "b\n");
  EXPECT_EQ(contents(command.log), "b\n");
  EXPECT_EQ(contents(command.out), "a\n");
}

TYPED_TEST(RunnerContract, ALogThatCannotBeWrittenIsAnError) {
  Command command = this->world.command({"a", "b"});
  command.log = this->folder / "none/log";
  const auto exit = this->world.runner().run(command);
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().kind(), ErrorKind::Io);
}

TYPED_TEST(RunnerContract, OnlyTheEndOfLongOutputIsKept) {
  const std::string text(Exit::kTailBytes, 'x');
  const auto exit = this->world.runner().run(this->world.command({text, "the end"}));
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(exit->tail.size(), Exit::kTailBytes);
  EXPECT_EQ(exit->tail.substr(exit->tail.size() - 10), "x\nthe end\n");
}

TYPED_TEST(RunnerContract, AnObserverHearsOfStartAndOutput) {
  Notes notes;
  const auto exit = this->world.runner().run(this->world.command({"a", "b"}), notes);
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(notes.events, "started output");
  EXPECT_EQ(notes.said, "a\nb\n");
}

}  // namespace
}  // namespace profline::testing
