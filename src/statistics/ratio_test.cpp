#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "statistics/comparison.h"
#include "statistics/testing_noise.h"

namespace profline::statistics {
namespace {

using Values = std::vector<double>;

TEST(Ratio, IsThatOfTheCentres) {
  const Values a = {1, 2, 30};
  const Values b = {3, 4, 500};
  EXPECT_DOUBLE_EQ(ratio_of_centres(a, b).value, 2);
  EXPECT_DOUBLE_EQ(ratio_of_centres(a, b, Centre::Mean).value, 169.0 / 11);
  EXPECT_DOUBLE_EQ(ratio_of_pairs(a, b).value, 3);
}

TEST(Ratio, OfEqualListsIsOneWithoutWidth) {
  const Values same(9, 4.0);
  EXPECT_EQ(ratio_of_centres(same, same), (Ratio{1, {1, 1}, {1, 1}}));
  EXPECT_EQ(ratio_of_pairs(Values{1, 5, 9}, Values{2, 10, 18}), (Ratio{2, {2, 2}, {2, 2}}));
}

TEST(Ratio, IsTheSameEachTime) {
  const Values a = {5, 6, 7, 8, 9};
  const Values b = {5, 7, 7, 9, 9};
  EXPECT_EQ(ratio_of_centres(a, b), ratio_of_centres(a, b));
  EXPECT_EQ(ratio_of_pairs(a, b), ratio_of_pairs(a, b));
}

TEST(Ratio, OfPairsLeavesTheInputsOut) {
  // Inputs from 1 to 100, each 5 % slower, with 1 % noise: hidden in the lists, plain in the pairs.
  RandomNumbers random(2);
  Values a;
  Values b;
  for (int i = 1; i <= 40; ++i) {
    a.push_back(2.5 * i * std::exp(0.01 * noise(random)));
    b.push_back(2.5 * i * 1.05 * std::exp(0.01 * noise(random)));
  }
  const Ratio pairs = ratio_of_pairs(a, b);
  EXPECT_GT(pairs.interval.low, 1.04);
  EXPECT_LT(pairs.interval.high, 1.06);
  const Ratio lists = ratio_of_centres(a, b);
  EXPECT_LT(lists.interval.low, 0.9);
  EXPECT_GT(lists.interval.high, 1.1);
}

/// How many of 400 intervals contain the true ratio, which is 1.2.
int held(std::size_t n, Centre centre, bool paired) {
  RandomNumbers random(n);
  int count = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Values a(n);
    Values b(n);
    for (double& value : a) value = 10 * std::exp(0.05 * noise(random));
    for (double& value : b) value = 12 * std::exp(0.05 * noise(random));
    const Bootstrap fewer{.resamples = 400};
    const Ratio ratio =
        paired ? ratio_of_pairs(a, b, centre, fewer) : ratio_of_centres(a, b, centre, fewer);
    count += ratio.interval.low <= 1.2 && 1.2 <= ratio.interval.high ? 1 : 0;
  }
  return count;
}

TEST(Ratio, HoldsTheTrueOneAtLeastAsOftenAsItSays) {
  for (const std::size_t n : {5U, 12U, 60U}) {
    for (const Centre centre : {Centre::Median, Centre::Mean}) {
      for (const bool paired : {false, true}) {
        SCOPED_TRACE(std::to_string(n) + (paired ? " paired" : ""));
        EXPECT_GE(held(n, centre, paired), 367);  // three deviations below 95 %
      }
    }
  }
}

}  // namespace
}  // namespace profline::statistics
