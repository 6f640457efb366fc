#include "statistics/summary.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace profline::statistics {
namespace {

TEST(Quantile, IsLinearBetweenNeighbours) {
  struct Case {
    std::vector<double> sorted;
    double q;
    double expected;  // of numpy.quantile
  };
  const std::array cases = {
      Case{{7}, 0.9, 7},
      Case{{1, 2, 3, 4}, 0, 1},
      Case{{1, 2, 3, 4}, 1, 4},
      Case{{1, 2, 3, 4}, 0.5, 2.5},
      Case{{1, 2, 4}, 0.5, 2},
      Case{{0, 10}, 0.9, 9},
      Case{{15, 20, 35, 40, 50}, 0.4, 29},
      Case{{15, 20, 35, 40, 50}, 0.99, 49.6},
  };
  for (const Case& c : cases) EXPECT_DOUBLE_EQ(quantile(c.sorted, c.q), c.expected);
}

TEST(Summary, OfNothingIsNothing) {
  EXPECT_FALSE(summarise({}));
}

TEST(Summary, OfOneValueIsThatValue) {
  const std::array values = {3.25};
  const auto summary = summarise(values);
  ASSERT_TRUE(summary);
  EXPECT_EQ(*summary, (Summary{1, 3.25, 0, 3.25, 3.25, 3.25, 3.25, 3.25, {3.25, 3.25}}));
}

TEST(Summary, HasThePopulationsDeviation) {
  const std::array values = {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
  const auto summary = summarise(values);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->n, 8U);
  EXPECT_DOUBLE_EQ(summary->mean, 5.0);
  EXPECT_DOUBLE_EQ(summary->std, 2.0);  // the sample's would be 2.138
  EXPECT_DOUBLE_EQ(summary->median, 4.5);
  EXPECT_DOUBLE_EQ(summary->p90, 7.6);
  EXPECT_DOUBLE_EQ(summary->p99, 8.86);
  EXPECT_EQ(summary->min, 2.0);
  EXPECT_EQ(summary->max, 9.0);
}

TEST(Summary, DoesNotDependOnTheOrder) {
  const std::array up = {0.1, 0.2, 0.3, 1e9, 1e9 + 0.7};
  const std::array mixed = {1e9 + 0.7, 0.2, 1e9, 0.3, 0.1};
  EXPECT_EQ(summarise(up), summarise(mixed));
}

TEST(Summary, KeepsTheDigitsOfManySmallDifferences) {
  const std::vector<double> values(1000, 1e15 + 0.125);
  const auto summary = summarise(values);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->mean, 1e15 + 0.125);
  EXPECT_EQ(summary->std, 0.0);
}

}  // namespace
}  // namespace profline::statistics
