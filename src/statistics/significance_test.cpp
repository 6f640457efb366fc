#include "statistics/significance.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "statistics/summary.h"

namespace profline::statistics {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(Normal, HasTheSharesOfTheTables) {
  EXPECT_DOUBLE_EQ(normal_cdf(0), 0.5);
  EXPECT_NEAR(normal_cdf(1.959963984540054), 0.975, 1e-15);
  EXPECT_NEAR(normal_cdf(-6) / 9.865876450376946e-10, 1, 1e-12);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(0.8), 0.8416212335729143, 1e-12);
  EXPECT_NEAR(normal_quantile(1e-9), -5.997807015007686, 1e-9);
}

TEST(Student, HasTheQuantilesOfTheTables) {
  struct Case {
    double degrees;
    double at_975;
  };
  // Fisher and Yates, table III, with the digits that R's qt() adds.
  constexpr std::array kCases = {
      Case{1, 12.706204736174694}, Case{2, 4.302652729749464},  Case{4, 2.7764451051977934},
      Case{8, 2.306004135204166},  Case{30, 2.042272456301236}, Case{kInfinite, 1.959963984540054},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.degrees);
    EXPECT_NEAR(student_quantile(0.975, c.degrees), c.at_975, 1e-9);
    EXPECT_NEAR(student_quantile(0.025, c.degrees), -c.at_975, 1e-9);
    EXPECT_NEAR(student_cdf(c.at_975, c.degrees), 0.975, 1e-12);
  }
}

TEST(Student, HasClosedFormsForOneAndTwoDegrees) {
  for (const double t : {-40.0, -1.5, 0.0, 0.3, 7.0}) {
    EXPECT_NEAR(student_cdf(t, 1), 0.5 + std::atan(t) / 3.14159265358979323846, 1e-13);
    EXPECT_NEAR(student_cdf(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-13);
  }
  EXPECT_EQ(student_cdf(kInfinite, 3), 1);
  EXPECT_EQ(student_cdf(-kInfinite, 3), 0);
}

TEST(FalseDiscovery, AdjustsAsBenjaminiAndHochbergDo) {
  // R: p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.5), "BH")
  const std::vector<double> adjusted =
      benjamini_hochberg(std::vector<double>{0.01, 0.04, 0.03, 0.005, 0.5});
  const std::vector<double> expected = {0.025, 0.05, 0.05, 0.025, 0.5};
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(adjusted[i], expected[i]);
  EXPECT_TRUE(benjamini_hochberg({}).empty());
  EXPECT_EQ(benjamini_hochberg(std::vector<double>{0.03}), std::vector<double>{0.03});
}

TEST(FalseDiscovery, KeepsManyKernelsFromCryingWolf) {
  // A thousand tests without any effect: 50 or so p values are below 0.05.
  RandomNumbers random(3);
  std::vector<double> p(1000);
  for (double& value : p) value = (1.0 + random.below(1'000'000)) / 1e6;
  int small = 0;
  for (const double value : p) small += value <= 0.05 ? 1 : 0;
  EXPECT_GT(small, 20);
  for (const double value : benjamini_hochberg(p)) EXPECT_GT(value, 0.05);
  // A real effect still stands out.
  p.front() = 1e-8;
  EXPECT_LT(benjamini_hochberg(p).front(), 0.05);
}

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
  // 20 and 20 are exact; with one more value it is not, but must be close.
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
