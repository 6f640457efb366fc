#include "workloads/server/load_progress.h"

#include <string>

#include <gtest/gtest.h>

namespace profline::server {
namespace {

std::string line(const std::string& kind, int start, int length, bool succeeded = true) {
  return kind + " " + std::to_string(start) + " " + std::to_string(start + length) +
         (succeeded ? " ok\n" : " failed\n");
}

TEST(LoadProgress, CountsRequestsAsTheyEnd) {
  LoadProgress progress(2, 1);
  EXPECT_FALSE(progress.is_warm());
  const std::string text = "begin 100\n" + line("warm", 100, 50) + line("warm", 150, 60);
  for (const char byte : text) progress.take(std::string_view(&byte, 1));
  EXPECT_EQ(progress.began_ns(), 100);
  EXPECT_TRUE(progress.is_warm());
  progress.take(line("done", 210, 20, false));
  EXPECT_EQ(progress.succeeded(), 2U);
  EXPECT_EQ(progress.failed(), 1U);
  ASSERT_EQ(progress.requests().size(), 3U);
  EXPECT_EQ(progress.requests().back(), (FinishedRequest{true, false, 210, 230}));
}

TEST(LoadProgress, SkipsWhatItDoesNotUnderstand) {
  LoadProgress progress(0, 1);
  progress.take("begin x\ndone 1 2\ndone 1 2 ok more\nelse 1 2 ok\n\ndone a b ok\nbegin 7\n");
  EXPECT_EQ(progress.began_ns(), 7);
  EXPECT_TRUE(progress.requests().empty());
}

TEST(LoadProgress, IsSteadyOnceLatenciesNoLongerChange) {
  LoadProgress progress(1, 1);
  progress.take("begin 0\n");
  progress.take(line("warm", 0, 900));
  int at = 1000;
  for (int i = 0; i < 15; ++i, at += 100) {
    progress.take(line("done", at, 100));
    EXPECT_FALSE(progress.is_steady()) << i;  // too few to tell
  }
  for (int i = 0; i < 20; ++i, at += 100) progress.take(line("done", at, 100 + i % 2));
  EXPECT_TRUE(progress.is_steady());
}

TEST(LoadProgress, IsNotWarmIfTheServerNoLongerAnswers) {
  LoadProgress progress(2, 1);
  progress.take("begin 0\n" + line("warm", 0, 10) + line("warm", 10, 10, false));
  EXPECT_FALSE(progress.is_warm());
  progress.take(line("done", 20, 10));
  EXPECT_TRUE(progress.is_warm());
}

TEST(LoadProgress, IsNotSteadyWhileLatenciesGrow) {
  LoadProgress progress(0, 1);
  progress.take("begin 0\n");
  int at = 0;
  for (int i = 0; i < 40; ++i) {
    progress.take(line("done", at, 100 + 20 * i));
    at += 100 + 20 * i;
  }
  EXPECT_FALSE(progress.is_steady());
}

TEST(LoadProgress, WaitsForTwoRoundsOfAClosedLoop) {
  LoadProgress progress(0, 30);
  progress.take("begin 0\n");
  for (int i = 0; i < 59; ++i) progress.take(line("done", i, 100));
  EXPECT_FALSE(progress.is_steady());
  progress.take(line("done", 60, 100));
  EXPECT_TRUE(progress.is_steady());
}

}  // namespace
}  // namespace profline::server
