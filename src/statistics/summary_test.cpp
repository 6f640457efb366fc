#include "statistics/summary.h"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace profline::statistics {
namespace {

using Values = std::vector<double>;

TEST(Blocks, AreMeansOfNeighbours) {
  EXPECT_EQ(block_means(Values{1, 3, 5, 7, 9, 11}, 3), (Values{2, 6, 10}));
  EXPECT_EQ(block_means(Values{1, 3, 5, 7, 9}, 2), (Values{2, 7}));
}

TEST(Blocks, OfFewValuesAreTheValues) {
  EXPECT_EQ(block_means(Values{4, 2}, 32), (Values{4, 2}));
  EXPECT_EQ(block_means({}, 32), Values{});
}

TEST(Blocks, HoldEveryValueOnce) {
  Values values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  for (const std::size_t most : {1U, 7U, 32U, 999U}) {
    const Values means = block_means(values, most);
    ASSERT_EQ(means.size(), most);
    double sum = 0;
    for (const double mean : means) sum += mean;
    // Blocks differ by one value at most, so the mean of means is close to the mean.
    EXPECT_NEAR(sum / static_cast<double>(most), 499.5, 1);
  }
}

std::vector<double> ascending(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i + 1);
  return values;
}

TEST(RandomNumbers, AreThoseOfSplitMix64) {
  // Vigna's reference implementation, seed 1234567.
  RandomNumbers random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
}

TEST(RandomNumbers, BelowReachesEveryNumberAboutEquallyOften) {
  RandomNumbers random(1);
  std::array<int, 7> seen{};
  for (int i = 0; i < 70'000; ++i) ++seen.at(random.below(7));
  // Six deviations of a binomial around 10 000.
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 556);
}

TEST(MedianInterval, IsTheSameEachTime) {
  const std::vector<double> values = ascending(31);
  EXPECT_EQ(median_interval(values), median_interval(values));
  EXPECT_NE(median_interval(values, {.resamples = 50, .seed = 1}),
            median_interval(values, {.resamples = 50, .seed = 2}));
}

TEST(MedianInterval, OfEqualValuesHasNoWidth) {
  const std::vector<double> values(12, 4.5);
  EXPECT_EQ(median_interval(values), (Interval{4.5, 4.5}));
}

/// The median of a resample of n (odd) is the k-th smallest value or less with the probability that
/// at least (n+1)/2 of n draws hit the first k: its quantiles are known without drawing.
TEST(MedianInterval, AgreesWithTheExactDistribution) {
  constexpr std::size_t kSize = 15;
  const auto probability_up_to = [](std::size_t k) {
    const double p = static_cast<double>(k) / kSize;
    double sum = 0;
    for (std::size_t hits = (kSize + 1) / 2; hits <= kSize; ++hits) {
      double term = 1;
      for (std::size_t i = 0; i < hits; ++i) {
        term *= p * static_cast<double>(kSize - i) / static_cast<double>(hits - i);
      }
      for (std::size_t i = hits; i < kSize; ++i) term *= 1 - p;
      sum += term;
    }
    return sum;
  };
  Interval exact;
  for (std::size_t k = kSize; k >= 1; --k) {
    if (probability_up_to(k) >= 0.025) exact.low = static_cast<double>(k);
    if (probability_up_to(k) >= 0.975) exact.high = static_cast<double>(k);
  }
  const Interval drawn = median_interval(ascending(kSize), {.resamples = 20'000});
  EXPECT_NEAR(drawn.low, exact.low, 0.5);
  EXPECT_NEAR(drawn.high, exact.high, 0.5);
}

TEST(MedianInterval, TakesTheMeanOfTheTwoInTheMiddle) {
  // With two values the resamples' medians are 1, 2 or between: 1/4, 1/4, 1/2.
  const Interval interval = median_interval(ascending(2), {.confidence = 0.4});
  EXPECT_EQ(interval, (Interval{1.5, 1.5}));
}

TEST(MedianInterval, HoldsTheTrueMedianAboutAsOftenAsItSays) {
  RandomNumbers random(7);
  int held = 0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(41);
    for (double& value : values) value = static_cast<double>(random.below(1'000'001));
    std::sort(values.begin(), values.end());
    const Interval interval = median_interval(values, {.resamples = 500});
    held += interval.low <= 500'000 && 500'000 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(held, kTrials * 90 / 100);
  EXPECT_LE(held, kTrials * 99 / 100);
}

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
  EXPECT_DOUBLE_EQ(summary->std, 2.0);  // that of the sample would be 2.138
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
