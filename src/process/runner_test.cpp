#include "process/runner.h"

#include <signal.h>

#include <gtest/gtest.h>

#include "process/interrupt.h"

namespace profline {
namespace {

Exit ended(Exit::Why why, std::optional<int> code, std::optional<int> signal,
           std::optional<int> stopped_by) {
  Exit exit;
  exit.why = why;
  exit.code = code;
  exit.signal = signal;
  exit.stopped_by = stopped_by;
  exit.time_limit = std::chrono::seconds(5);
  exit.pid = 77;
  return exit;
}

TEST(Exit, DescribesItself) {
  using enum Exit::Why;
  struct Case {
    Exit exit;
    std::string_view text;
  };
  const Case cases[] = {
      {ended(Own, 7, {}, {}), "exited with code 7"},
      {ended(Own, {}, SIGSEGV, {}), "killed by SIGSEGV"},
      {ended(Own, {}, 64, {}), "killed by signal 64"},
      {ended(TimedOut, {}, SIGKILL, SIGKILL), "timed out after 5 s and was killed by SIGKILL"},
      {ended(TimedOut, 0, {}, SIGINT), "timed out after 5 s and exited with code 0 on SIGINT"},
      {ended(TimedOut, {}, {}, SIGKILL),
       "timed out after 5 s and is still running as pid 77: not even SIGKILL ended it"},
      {ended(Cancelled, {}, SIGTERM, SIGTERM), "cancelled and killed by SIGTERM"},
      {ended(Cancelled, 130, {}, SIGINT), "cancelled and exited with code 130 on SIGINT"},
      {ended(GuardianLost, {}, SIGKILL, {}), "lost its guardian process and was killed by SIGKILL"},
  };
  for (const Case& c : cases) EXPECT_EQ(c.exit.describe(), c.text);

  Exit crashed = ended(Own, {}, SIGSEGV, {});
  crashed.core_dumped = true;
  EXPECT_EQ(crashed.describe(), "killed by SIGSEGV (core dumped)");
  Exit late = ended(TimedOut, {}, SIGINT, SIGINT);
  late.time_limit = std::chrono::milliseconds(1500);
  EXPECT_EQ(late.describe(), "timed out after 1500 ms and was killed by SIGINT");
}

TEST(Exit, SucceedsOnlyByItself) {
  EXPECT_TRUE(ended(Exit::Why::Own, 0, {}, {}).succeeded());
  EXPECT_FALSE(ended(Exit::Why::Own, 1, {}, {}).succeeded());
  EXPECT_FALSE(ended(Exit::Why::Own, {}, SIGINT, {}).succeeded());
  EXPECT_FALSE(ended(Exit::Why::TimedOut, 0, {}, SIGINT).succeeded());
  EXPECT_FALSE(ended(Exit::Why::Cancelled, 0, {}, SIGINT).succeeded());
}

TEST(Exit, NamesWhatWasLeftBehind) {
  Exit exit;
  EXPECT_EQ(exit.describe_leftovers(), "");
  exit.leftovers = {{12, "nsys-agent"}};
  EXPECT_EQ(exit.describe_leftovers(), "left 1 orphaned process, ended: nsys-agent (pid 12)");
  exit.leftovers.push_back({13, "stuck", true});
  EXPECT_EQ(exit.describe_leftovers(),
            "left 2 orphaned processes, ended: nsys-agent (pid 12), still running: stuck (pid 13)");
}

class Ask : public ::testing::Test {
 protected:
  Result<std::string> ask(std::vector<std::string> argv) {
    return output_of(runner_, std::move(argv));
  }

 private:
  Interrupt interrupt_;
  PosixRunner runner_{interrupt_};
};

TEST_F(Ask, GivesStdoutAlone) {
  const auto answer = ask({"/bin/sh", "-c", "echo noise >&2; echo 2025.3.1"});
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(*answer, "2025.3.1\n");
}

TEST_F(Ask, QuotesAProgramThatFails) {
  const auto answer = ask({"/bin/sh", "-c", "echo 'no such device' >&2; exit 7"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::Tool);
  EXPECT_EQ(answer.error().to_string(),
            "'/bin/sh -c 'echo '\\''no such device'\\'' >&2; exit 7'' exited with code 7: no such "
            "device");
}

TEST_F(Ask, AProgramThatIsNotThereIsNotFound) {
  const auto answer = ask({"/nowhere/nsys", "--version"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::NotFound);
}

}  // namespace
}  // namespace profline
