// What a child receives and what is reported about it. Stopping children: stopping_test.cpp.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/runner.h"
#include "testing/processes/children.h"
#include "testing/temp_dir.h"

namespace profline {
namespace {

using process_test::child;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Runner : public ::testing::Test {
 protected:
  Exit run(const Command& command) {
    auto exit = runner.run(command);
    EXPECT_TRUE(exit) << exit.error().to_string();
    return exit ? *std::move(exit) : Exit{};
  }
  std::string output_of(const std::vector<std::string>& script) { return run(child(script)).tail; }
  void expect_error(const Command& command, ErrorKind kind, const std::string& message) {
    const auto exit = runner.run(command);
    ASSERT_FALSE(exit) << exit->describe();
    EXPECT_EQ(exit.error().to_string(), message);
    EXPECT_EQ(exit.error().kind(), kind);
  }

  Interrupt interrupt;
  PosixRunner runner{interrupt};
  testing::TempDir folder;
};

TEST_F(Runner, TellsExitCodeAndSignal) {
  EXPECT_TRUE(run(child({})).succeeded());
  EXPECT_EQ(run(child({"exit", "7"})).describe(), "exited with code 7");
  EXPECT_EQ(run(child({"exit", "127"})).code, 127);  // not taken for a failed exec
  const Exit killed = run(child({"raise", std::to_string(SIGUSR1)}));
  EXPECT_EQ(killed.describe(), "killed by SIGUSR1");
  EXPECT_EQ(killed.code, std::nullopt);
  EXPECT_EQ(killed.why, Exit::Why::Own);
  EXPECT_EQ(killed.stopped_by, std::nullopt);
}

TEST_F(Runner, MeasuresTheChild) {
  const Exit exit = run(child({"flood", "50000000"}));
  EXPECT_GT(exit.wall.count(), 0);
  EXPECT_GT((exit.cpu_user + exit.cpu_system).count(), 0);
  EXPECT_GT(exit.max_rss_bytes, 1U << 20U);
}

TEST_F(Runner, PassesArgumentsVerbatim) {
  EXPECT_EQ(output_of({"args", "a b", "", "it's", "\"", "two\nlines", "$HOME", "*", "\\"}),
            "3:a b\n0:\n4:it's\n1:\"\n9:two\nlines\n5:$HOME\n1:*\n1:\\\n");
}

TEST_F(Runner, PassesAMegabyteOfArguments) {
  Command command = child({"args"});
  for (int i = 0; i < 1024; ++i) command.argv.emplace_back(1023, 'x');
  command.log = folder / "log";
  EXPECT_TRUE(run(command).succeeded());
  EXPECT_EQ(contents(command.log).size(), 1024U * (1023 + 6));
}

TEST_F(Runner, ArgumentsTooLongForTheSystemAreAnError) {
  Command command{.argv = {"/bin/true", std::string(200'000, 'x')}};
  const auto exit = runner.run(command);
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().kind(), ErrorKind::Config);
  EXPECT_THAT(exit.error().to_string(),
              ::testing::MatchesRegex(
                  "cannot run '/bin/true': its arguments \\(200011 bytes\\) and environment "
                  "\\([0-9]+ bytes\\), or one of them alone, are longer than the system allows"));
}

TEST_F(Runner, ChangesTheEnvironmentAsAsked) {
  ::setenv("PROFLINE_TEST_KEPT", "kept", 1);
  ::setenv("PROFLINE_TEST_CHANGED", "old", 1);
  ::setenv("PROFLINE_TEST_UNSET", "there", 1);
  Command command = child({"env", "PROFLINE_TEST_KEPT", "env", "PROFLINE_TEST_CHANGED", "env",
                           "PROFLINE_TEST_UNSET", "env", "PROFLINE_TEST_ADDED"});
  command.env = {{"PROFLINE_TEST_CHANGED", "new = 1"}, {"PROFLINE_TEST_ADDED", ""}};
  command.unset_env = {"PROFLINE_TEST_UNSET", "PROFLINE_TEST_NEVER_WAS"};
  EXPECT_EQ(run(command).tail,
            "PROFLINE_TEST_KEPT=kept\nPROFLINE_TEST_CHANGED=new = 1\n"
            "PROFLINE_TEST_UNSET is not set\nPROFLINE_TEST_ADDED=\n");
}

TEST_F(Runner, SeeksTheProgramInTheChildsPath) {
  std::filesystem::create_symlink(child({}).argv.front(), folder / "my_tool");
  Command command{.argv = {"my_tool", "out", "found"}};
  expect_error({.argv = {"my_tool"}, .env = {{"PATH", "/nowhere"}}}, ErrorKind::NotFound,
               "cannot run 'my_tool': not found in PATH (1 folder searched)");
  expect_error({.argv = {"my_tool"}, .unset_env = {"PATH"}}, ErrorKind::NotFound,
               "cannot run 'my_tool': not found in PATH (2 folders searched)");
  command.env["PATH"] = "/nowhere:" + folder.path().string();
  EXPECT_EQ(run(command).tail, "found\n");
}

TEST_F(Runner, RunsInTheFolderAskedFor) {
  const std::filesystem::path real = std::filesystem::canonical(folder.path());
  std::filesystem::create_symlink(child({}).argv.front(), real / "my_tool");
  EXPECT_EQ(run({.argv = {"./my_tool", "cwd"}, .cwd = real}).tail, real.string() + '\n');
  EXPECT_EQ(output_of({"cwd"}), std::filesystem::current_path().string() + '\n');
}

TEST_F(Runner, GivesTheChildNothingOfOurs) {
  const int leaked = ::dup(STDERR_FILENO);  // without O_CLOEXEC, as libraries do
  EXPECT_EQ(output_of({"stdin", "fds", "group"}), "0 bytes\n0 1 2 \nleads its group\n");
  ::close(leaked);
}

TEST_F(Runner, GivesTheChildDefaultSignals) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked;
  sigset_t mask;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &mask);
  EXPECT_EQ(run(child({"raise", std::to_string(SIGPIPE)})).signal, SIGPIPE);
  EXPECT_EQ(run(child({"raise", std::to_string(SIGUSR1)})).signal, SIGUSR1);
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::signal(SIGPIPE, before);
}

TEST_F(Runner, KnowsTheStatusEvenWhenWeIgnoreTheEndOfChildren) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run(child({"exit", "7"})).code, 7);
  ::signal(SIGCHLD, before);
}

TEST_F(Runner, KeepsTheOrderOfBothStreams) {
  Command command = child({"out", "1", "err", "2", "out", "3", "err", "4"});
  command.log = folder / "log";
  std::ofstream(command.log) << "before\n";
  EXPECT_EQ(run(command).tail, "1\n2\n3\n4\n");
  EXPECT_EQ(contents(command.log), "before\n1\n2\n3\n4\n");
}

TEST_F(Runner, KeepsStdoutApartWhenAsked) {
  Command command = child({"out", "1", "err", "2", "out", "3"});
  command.log = folder / "log";
  command.out = folder / "out";
  std::ofstream(command.out) << "a longer text from before\n";
  EXPECT_EQ(run(command).tail, "2\n");
  EXPECT_EQ(contents(command.log), "2\n");
  EXPECT_EQ(contents(command.out), "1\n3\n");
}

TEST_F(Runner, KeepsTheEndOfLongOutput) {
  const Exit exit = run(child({"flood", "100000", "out", "", "out", "the end"}));
  EXPECT_EQ(exit.tail.size(), Exit::kTailBytes);
  EXPECT_EQ(exit.tail.substr(exit.tail.size() - 10), "x\nthe end\n");
}

TEST_F(Runner, TellsAnObserver) {
  process_test::WhenSaid observer("", nullptr);
  const auto exit = runner.run(child({"pid", "child", "out", "bye"}), observer);
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(observer.said, exit->tail);
  EXPECT_EQ(observer.child.pid, process_test::pid_said(observer.said, "child"));
  EXPECT_EQ(observer.child.pid, exit->pid);
  ProcessStat self;
  ASSERT_TRUE(read_process(::getpid(), self));
  EXPECT_GE(observer.child.start_ticks, self.start_ticks);
}

TEST_F(Runner, WhatCannotRunIsAnError) {
  const std::string at = folder.path().string();
  std::ofstream(folder / "plain") << "text\n";
  std::ofstream(folder / "script") << "#!" << at << "/no_shell -e\n";
  std::ofstream(folder / "garbage") << "garbage\n";
  ::chmod((folder / "script").c_str(), 0755);
  ::chmod((folder / "garbage").c_str(), 0755);
  const std::string start = "cannot run '" + at;
  expect_error({.argv = {}}, ErrorKind::Config, "the command has no program to run");
  expect_error({.argv = {at + "/none"}}, ErrorKind::NotFound, start + "/none': no such file");
  expect_error({.argv = {at + "/plain"}}, ErrorKind::Io,
               start + "/plain': it is not executable (chmod +x makes it executable)");
  expect_error({.argv = {at + "/script"}}, ErrorKind::NotFound,
               start + "/script': its interpreter '" + at + "/no_shell' does not exist");
  expect_error({.argv = {at + "/garbage"}}, ErrorKind::Io,
               start +
                   "/garbage': it is neither a program for this machine nor a script that starts "
                   "with #!");
}

TEST_F(Runner, AFolderOrLogThatCannotBeIsAnError) {
  const std::string at = folder.path().string();
  std::ofstream(folder / "plain") << "text\n";
  expect_error({.argv = {"/bin/true"}, .cwd = at + "/none"}, ErrorKind::NotFound,
               "cannot run in folder '" + at + "/none': it does not exist");
  expect_error({.argv = {"/bin/true"}, .cwd = at + "/plain"}, ErrorKind::Config,
               "cannot run in folder '" + at + "/plain': it is not a folder");
  expect_error({.argv = {"/bin/true"}, .log = at + "/none/log"}, ErrorKind::Io,
               "cannot write output to '" + at + "/none/log': No such file or directory");
  expect_error({.argv = {"/bin/true"}, .out = at}, ErrorKind::Io,
               "cannot write output to '" + at + "': Is a directory");
}

TEST_F(Runner, LeavesNothingAfterManyRuns) {
  EXPECT_TRUE(run({.argv = {"/bin/true"}}).succeeded());
  const std::size_t descriptors = process_test::open_descriptors();
  for (int i = 0; i < process_test::kManyRuns; ++i) {
    ASSERT_TRUE(run({.argv = {"/bin/true"}}).succeeded());
  }
  EXPECT_FALSE(runner.run({.argv = {"/none"}}));
  EXPECT_EQ(process_test::open_descriptors(), descriptors);
  EXPECT_THAT(process_test::own_children(), ::testing::IsEmpty());
}

TEST_F(Runner, ThreadsMayRunCommandsAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kRuns = 25;
  std::vector<std::string> said(kThreads);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int j = 0; j < kRuns; ++j) {
          const auto exit = runner.run(child({"out", std::to_string(i)}));
          said[static_cast<std::size_t>(i)] += exit ? exit->tail : exit.error().to_string();
        }
      });
    }
  }
  for (int i = 0; i < kThreads; ++i) {
    std::string expected;
    for (int j = 0; j < kRuns; ++j) expected += std::to_string(i) + '\n';
    EXPECT_EQ(said[static_cast<std::size_t>(i)], expected);
  }
  EXPECT_THAT(process_test::own_children(), ::testing::IsEmpty());
}

/// `VmHWM` of /proc/self/status: our peak memory since the mark was reset.
std::size_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmHWM:") {
  }
  std::size_t kibibytes = 0;
  status >> kibibytes;
  return kibibytes * 1024;
}

/// Whether the file system can free the middle of a file.
bool has_holes(const std::filesystem::path& folder) {
  constexpr off_t kBytes = off_t{1} << 20U;
  const std::string path = (folder / "holes").string();
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool can =
      file >= 0 && ::posix_fallocate(file, 0, kBytes) == 0 &&
      ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kBytes / 2) == 0;
  if (file >= 0) ::close(file);
  return can;
}

TEST_F(Runner, AGigabyteOfOutputTakesNoMemoryAndLittleDisk) {
  constexpr std::size_t kGigabyte = 1'000'000'000;
  Command command = child({"flood", std::to_string(kGigabyte)});
  command.log = folder / "log";
  RunObserver observer;  // makes the runner read along
  std::ofstream("/proc/self/clear_refs") << "5";
  const std::size_t before = peak_memory_bytes();
  const auto exit = runner.run(command, observer);
  const std::size_t after = peak_memory_bytes();
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(std::filesystem::file_size(command.log), kGigabyte);
  EXPECT_EQ(exit->tail.size(), Exit::kTailBytes);
  EXPECT_GT(before, 0U);
  EXPECT_LT(after, before + (std::size_t{16} << 20U));
  if (!has_holes(folder.path())) return;
  constexpr std::uint64_t kBlock = 512;
  struct stat status {};
  ASSERT_EQ(::stat(command.log.c_str(), &status), 0);
  EXPECT_LT(static_cast<std::uint64_t>(status.st_blocks) * kBlock,
            2 * (kLogHeadBytes + kLogTailBytes));
}

}  // namespace
}  // namespace profline
