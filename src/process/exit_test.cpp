#include "process/exit.h"

#include <signal.h>

#include <gtest/gtest.h>

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
  EXPECT_EQ(exit.describe_leftovers(), "left 1 process behind, ended: nsys-agent (pid 12)");
  exit.leftovers.push_back({13, "stuck", true});
  EXPECT_EQ(exit.describe_leftovers(),
            "left 2 processes behind, ended: nsys-agent (pid 12), still running: stuck (pid 13)");
}

}  // namespace
}  // namespace profline
