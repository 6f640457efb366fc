#include "statistics/bootstrap.h"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace profline::statistics {
namespace {

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
  // Of two values the resamples' medians are 1, 2 or between: 1/4, 1/4, 1/2.
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

}  // namespace
}  // namespace profline::statistics
