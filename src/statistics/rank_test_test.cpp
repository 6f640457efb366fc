#include "statistics/rank_test.h"

#include <vector>

#include <gtest/gtest.h>

#include "statistics/bootstrap.h"

namespace profline::statistics {
namespace {

using Values = std::vector<double>;

TEST(MannWhitney, CountsArrangementsOfFewValues) {
  // Full separation of 5 and 5: two of C(10, 5) = 252 arrangements.
  const RankTest apart = mann_whitney(Values{1, 2, 3, 4, 5}, Values{6, 7, 8, 9, 10});
  EXPECT_TRUE(apart.exact);
  EXPECT_DOUBLE_EQ(apart.p, 2.0 / 252);
  // R: wilcox.test(c(1,2,4), c(3,5,6,7))$p.value
  EXPECT_DOUBLE_EQ(mann_whitney(Values{1, 2, 4}, Values{3, 5, 6, 7}).p, 4.0 / 35);
}

TEST(MannWhitney, KeepsTiesExact) {
  // Of the 6 ways to give two of {1, 2, 2, 3} to a side, rank sums 3.5, 3.5, 5, 5, 6.5, 6.5.
  EXPECT_DOUBLE_EQ(mann_whitney(Values{1, 2}, Values{2, 3}).p, 4.0 / 6);
  EXPECT_DOUBLE_EQ(mann_whitney(Values{4, 4, 4}, Values{4, 4}).p, 1);
}

TEST(MannWhitney, HasNoSides) {
  const Values a = {3, 1, 4, 1, 5};
  const Values b = {9, 2, 6};
  EXPECT_EQ(mann_whitney(a, b).p, mann_whitney(b, a).p);
  EXPECT_EQ(mann_whitney(a, {}).p, 1);
}

TEST(MannWhitney, OfManyValuesAgreesWithTheExactTest) {
  // 20 and 20 are exact; the same with one more value is not, and must not be far from it.
  RandomNumbers random(5);
  Values a;
  Values b;
  for (int i = 0; i < 20; ++i) {
    a.push_back(random.below(1000));
    b.push_back(random.below(1000) + 200.0);
  }
  const RankTest exact = mann_whitney(a, b);
  ASSERT_TRUE(exact.exact);
  a.push_back(520);
  const RankTest close = mann_whitney(a, b);
  EXPECT_FALSE(close.exact);
  EXPECT_NEAR(close.p, exact.p, 0.02);
  EXPECT_EQ(mann_whitney(Values(30, 2.0), Values(30, 2.0)).p, 1);
}

TEST(MannWhitney, IsWrongAsOftenAsItSays) {
  RandomNumbers random(11);
  int rejected = 0;
  constexpr int kTrials = 1000;
  for (int trial = 0; trial < kTrials; ++trial) {
    Values a(30);
    Values b(30);
    for (double& value : a) value = random.below(1000);
    for (double& value : b) value = random.below(1000);
    rejected += mann_whitney(a, b).p <= 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(rejected, 50, 28);  // four deviations of a binomial
}

TEST(SignedRank, CountsSignsOfFewPairs) {
  // All six of one sign: two of 64.
  EXPECT_DOUBLE_EQ(signed_rank(Values{1, 2, 3, 4, 5, 6}).p, 2.0 / 64);
  // R: wilcox.test(c(1,-2,3,4,5))$p.value
  EXPECT_DOUBLE_EQ(signed_rank(Values{1, -2, 3, 4, 5}).p, 0.1875);
  EXPECT_DOUBLE_EQ(signed_rank(Values{0, 1, 0, 2, 3, 4, 5, 6}).p, 2.0 / 64);
  EXPECT_EQ(signed_rank(Values{0, 0}).p, 1);
  EXPECT_EQ(signed_rank({}).p, 1);
}

TEST(SignedRank, OfManyPairsIsNearlyTheSame) {
  Values differences;
  for (int i = 1; i <= 50; ++i) differences.push_back(i % 3 == 0 ? -i : i);
  const RankTest exact = signed_rank(differences);
  ASSERT_TRUE(exact.exact);
  differences.push_back(-0.5);
  const RankTest close = signed_rank(differences);
  EXPECT_FALSE(close.exact);
  EXPECT_NEAR(close.p, exact.p, 0.003);
}

}  // namespace
}  // namespace profline::statistics
