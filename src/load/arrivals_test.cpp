#include "load/arrivals.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace profline::load {
namespace {

using settings::ArrivalProcess;

TEST(DueTimes, AreEvenlySpacedAtAConstantRate) {
  const auto times = due_times(ArrivalProcess::Constant, 4, 0, {.warmup = 1, .requests = 3});
  EXPECT_EQ(times, (std::vector<std::int64_t>{0, 250'000'000, 500'000'000, 750'000'000}));
  const auto many = due_times(ArrivalProcess::Constant, 3, 0, {.requests = 30'001});
  EXPECT_EQ(many.back(), 10'000'000'000'000) << "errors do not accumulate";
}

TEST(DueTimes, DependOnTheSeedAloneAndHaveTheRate) {
  const Extent extent{.requests = 20'000};
  const auto times = due_times(ArrivalProcess::Poisson, 100, 7, extent);
  EXPECT_EQ(times, due_times(ArrivalProcess::Poisson, 100, 7, extent));
  EXPECT_NE(times, due_times(ArrivalProcess::Poisson, 100, 8, extent));
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_NEAR(static_cast<double>(times.back()), 200e9, 4e9);
  // Exponential gaps: a share of 1/e is longer than the mean.
  std::size_t longer = 0;
  for (std::size_t i = 1; i < times.size(); ++i) {
    longer += times[i] - times[i - 1] > 10'000'000 ? 1U : 0U;
  }
  EXPECT_NEAR(static_cast<double>(longer) / 20'000, 0.368, 0.01);
}

TEST(DueTimes, CoverATimeAfterTheWarmUp) {
  const auto times = due_times(ArrivalProcess::Constant, 10, 0, {.warmup = 5, .seconds = 2});
  EXPECT_EQ(times.size(), 25U);
  EXPECT_EQ(times.back(), 2'400'000'000);
}

TEST(Trace, IsSortedAndBeginsAtItsFirstRequest) {
  auto trace = parse_trace(
      "{\"at_s\": 3, \"output_tokens\": 5}\n\n2\n{\"at_s\":4.5,\"prompt\":\"x\"}\n", "t.jsonl");
  ASSERT_TRUE(trace) << trace.error().to_string();
  EXPECT_EQ(*trace, (std::vector<TracedRequest>{
                        {0}, {1'000'000'000, {}, 5}, {2'500'000'000, {}, {}, "x"}}));
  auto limited = *trace;
  limit_trace(limited, {.warmup = 1, .requests = 1});
  EXPECT_EQ(limited.size(), 2U);
  limited = *trace;
  limit_trace(limited, {.warmup = 1, .seconds = 1.5});
  EXPECT_EQ(limited.size(), 2U);
}

TEST(Trace, NamesALineThatIsWrong) {
  struct Case {
    std::string_view text, message;
  };
  constexpr Case kCases[] = {
      {"", "t.jsonl: has no requests"},
      {"1\n{}", "t.jsonl:2: line 1, column 1: missing key 'at_s' (a number from 0.0 to 604800.0)"},
      {"{\"at_s\":1,\"prompt\":\"a\",\"input_tokens\":3}",
       "t.jsonl:1: has both prompt and input_tokens"},
  };
  for (const Case& c : kCases) {
    const auto trace = parse_trace(c.text, "t.jsonl");
    ASSERT_FALSE(trace) << c.text;
    EXPECT_EQ(trace.error().to_string().substr(0, c.message.size()), c.message);
  }
}

}  // namespace
}  // namespace profline::load
