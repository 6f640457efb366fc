#include "testing/processes/fake_processes.h"

#include <fstream>
#include <iterator>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "testing/temp_dir.h"

namespace profline::testing {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FakeProcesses, RecordsCommandsAndPlaysTheirScript) {
  const TempDir folder;
  FakeProcesses processes;
  processes.expect({"nsys", "profile"}).writes("out/run.nsys-rep", "bytes").dies_of(15);
  const auto exit = processes.run({.argv = {"nsys", "profile", "app"}, .cwd = folder.path()});
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(exit->describe(), "killed by SIGTERM");
  EXPECT_EQ(contents(folder / "out/run.nsys-rep"), "bytes");
  ASSERT_EQ(processes.commands().size(), 1U);
  EXPECT_EQ(display(processes.commands().front()),
            "cd " + folder.path().string() + " && nsys profile app");
}

TEST(FakeProcesses, PlaysOneScriptARunAndRepeatsTheLast) {
  FakeProcesses processes;
  processes.expect({"ncu"}).any_number_of_times().exits(9);
  processes.expect({"ncu"}).exits(1);
  processes.expect({"ncu", "--version"}).exits(2);
  EXPECT_EQ(processes.run({.argv = {"ncu"}})->code, 1);
  EXPECT_EQ(processes.run({.argv = {"ncu", "--version"}})->code, 2);
  EXPECT_EQ(processes.run({.argv = {"ncu"}})->code, 9);
  EXPECT_EQ(processes.run({.argv = {"ncu"}})->code, 9);
}

TEST(FakeProcesses, PlaysAProgramThatIsNotThere) {
  FakeProcesses processes;
  processes.expect({"nsys"}).cannot_start(Error(ErrorKind::NotFound, "no nsys"));
  const auto exit = processes.run({.argv = {"nsys"}});
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().to_string(), "no nsys");
}

TEST(FakeProcesses, PlaysAnyOtherEnd) {
  FakeProcesses processes;
  Exit late;
  late.why = Exit::Why::TimedOut;
  late.signal = 9;
  late.stopped_by = 9;
  late.time_limit = std::chrono::seconds(5);
  processes.expect({"nsys"}).complains("so far\n").ends(late);
  const auto exit = processes.run({.argv = {"nsys"}});
  EXPECT_EQ(exit->describe(), "timed out after 5 s and was killed by SIGKILL");
  EXPECT_EQ(exit->tail, "so far\n");
}

TEST(FakeProcesses, ACommandNobodyExpectedFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(
      {
        FakeProcesses processes;
        processes.expect({"nsys", "stats"}).any_number_of_times();
        const auto exit = processes.run({.argv = {"nsys", "my profile"}});
        EXPECT_EQ(exit.error().to_string(), "unexpected command: nsys 'my profile'");
      },
      "unexpected command:\n  nsys 'my profile'\nstill expected:\n  nothing\n");
}

TEST(FakeProcesses, ACommandThatNeverComesFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(
      {
        FakeProcesses processes;
        processes.expect({"nsys", "stats"});
      },
      "expected and never run:\n  nsys stats ...\n");
}

}  // namespace
}  // namespace profline::testing
