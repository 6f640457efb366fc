#include "statistics/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "statistics/testing_noise.h"

namespace profline::statistics {
namespace {

using Values = std::vector<double>;

Values measured(RandomNumbers& random, std::size_t n, double centre, double deviation) {
  Values values(n);
  for (double& value : values) value = centre * std::exp(deviation * noise(random));
  return values;
}

/// Times as measured in practice: a sharp edge on the left, a long tail on the right.
Values skewed(RandomNumbers& random, std::size_t n) {
  Values values(n);
  for (double& value : values) {
    const double even = (1.0 + random.below(1U << 30U)) / ((1U << 30U) + 1.0);
    value = 10 * (1 - 0.05 * std::log(even));
  }
  return values;
}

Values resampled(RandomNumbers& random, const Values& from) {
  Values values(from.size());
  for (double& value : values) {
    value = from[random.below(static_cast<std::uint32_t>(from.size()))];
  }
  return values;
}

Verdict judged(const RunUnits& a, const RunUnits& b, const ComparisonRule& rule = {}) {
  const Effect effect = effect_of(a, b, rule);
  return verdict_of(effect, effect.p, rule, Better::Lower);
}

int wrong_of_200(std::uint64_t seed, std::size_t n, const ComparisonRule& rule) {
  RandomNumbers random(seed);
  int wrong = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Values data = trial % 2 == 0 ? measured(random, n, 10, 0.02) : skewed(random, n);
    const Verdict verdict = judged({resampled(random, data)}, {resampled(random, data)}, rule);
    wrong += verdict == Verdict::Faster || verdict == Verdict::Slower ? 1 : 0;
  }
  return wrong;
}

TEST(Verdict, OfIdenticalDataIsSeldomWrong) {
  for (const std::size_t n : {5U, 20U, 200U}) {
    SCOPED_TRACE(n);
    EXPECT_LE(wrong_of_200(n, n, {}), 16);
    // Also without a threshold.
    EXPECT_LE(wrong_of_200(n + 1, n, {.threshold = 0}), 16);
    EXPECT_LE(wrong_of_200(n + 2, n, {.threshold = 0, .paired = true}), 16);
  }
}

int counted(Verdict wanted, std::size_t n, double change, bool paired, int trials = 200) {
  RandomNumbers random(n + 7);
  int count = 0;
  const ComparisonRule rule{.paired = paired};
  for (int trial = 0; trial < trials; ++trial) {
    const Values a = measured(random, n, 10, 0.02);
    const Values b = measured(random, n, 10 * (1 + change), 0.02);
    count += judged({a}, {b}, rule) == wanted ? 1 : 0;
  }
  return count;
}

TEST(Verdict, FindsThreePercentAmongTwoHundred) {
  EXPECT_GE(counted(Verdict::Slower, 200, 0.03, false), 180);
  EXPECT_GE(counted(Verdict::Slower, 200, 0.03, true), 180);
  EXPECT_GE(counted(Verdict::Faster, 200, -0.03, false), 180);
}

TEST(Verdict, LeavesThreePercentAmongFiveUndecided) {
  EXPECT_GE(counted(Verdict::Undecided, 5, 0.03, false), 180);
  EXPECT_GE(counted(Verdict::Undecided, 5, 0.03, true), 180);
}

TEST(Verdict, FindsWhatIsPlainAmongFive) {
  EXPECT_GE(counted(Verdict::Slower, 5, 0.5, false), 190);
}

TEST(Verdict, SaysSameWhereAChangeWouldHaveBeenSeen) {
  EXPECT_GE(counted(Verdict::Same, 2000, 0.0, false, 10), 9);
}

TEST(Verdict, IsSameByTwoOneSidedTests) {
  // The change is within 2 % with 95 % confidence on either side, though not within the 95 %
  // interval.
  const Effect effect{.ratio = {1.005, {0.979, 1.03}, {0.985, 1.019}}, .p = 0.5};
  EXPECT_EQ(verdict_of(effect, 0.5, {.threshold = 0.02}, Better::Lower), Verdict::Same);
  EXPECT_EQ(verdict_of(effect, 0.5, {.threshold = 0.018}, Better::Lower), Verdict::Undecided);
}

TEST(Verdict, IsSeldomSameWhereTheChangeIsAsLargeAsTheThreshold) {
  // At the edge of the threshold an equivalence test may be wrong 5 times in 100.
  for (const bool paired : {false, true}) {
    RandomNumbers random(31);
    const ComparisonRule rule{.threshold = 0.01, .paired = paired, .bootstrap = {.resamples = 400}};
    int same = 0;
    for (int trial = 0; trial < 200; ++trial) {
      const Values a = measured(random, 100, 10, 0.02);
      const Values b = measured(random, 100, 10 * 1.01, 0.02);
      same += judged({a}, {b}, rule) == Verdict::Same ? 1 : 0;
    }
    EXPECT_LE(same, 16) << paired;
  }
}

TEST(Verdict, FollowsWhatIsBetter) {
  const Effect slower{.ratio = {1.1, {1.05, 1.15}, {1.06, 1.14}}, .p = 0.001};
  const ComparisonRule rule;
  EXPECT_EQ(verdict_of(slower, 0.001, rule, Better::Lower), Verdict::Slower);
  EXPECT_EQ(verdict_of(slower, 0.001, rule, Better::Higher), Verdict::Faster);
  EXPECT_EQ(verdict_of(slower, 0.2, rule, Better::Lower), Verdict::Undecided);
  EXPECT_EQ(verdict_of(slower, 0.001, {.threshold = 0.06}, Better::Lower), Verdict::Undecided);
  EXPECT_EQ(verdict_of(slower, 0.001, {.threshold = 0.2}, Better::Lower), Verdict::Same);
}

TEST(Effect, OfOneRunASideIsNeverBelowTheKnownSpread) {
  RandomNumbers random(1);
  const Values a = measured(random, 500, 10, 0.001);
  const Values b = measured(random, 500, 10.5, 0.001);
  EXPECT_EQ(judged({a}, {b}), Verdict::Slower);
  ComparisonRule rule;
  rule.known_spread = RunSpread{.deviation = 0.03};
  const Effect effect = effect_of({a}, {b}, rule);
  EXPECT_EQ(effect.limit, Limit::KnownSpread);
  EXPECT_NEAR(effect.ratio.interval.low, 1.05 * std::exp(-1.96 * 0.03 * std::sqrt(2.0)), 1e-3);
  EXPECT_EQ(verdict_of(effect, effect.p, rule, Better::Lower), Verdict::Undecided);
  EXPECT_NEAR(RunSpread{.deviation = 0.03}.difference_of_two(), 0.0867, 1e-3);
}

TEST(Effect, OfOneRunASideIsNeverWhatRunsOfTheSameThingShowed) {
  // Nineteen runs within 1 %, and one outlier of 15 %, which hardly changes a deviation.
  RunUnits earlier(19);
  RandomNumbers random(5);
  for (Values& run : earlier) run = {10 * std::exp(0.004 * noise(random))};
  earlier.push_back({11.5});
  const auto spread = spread_within(std::vector<RunUnits>{earlier}, false);
  ASSERT_TRUE(spread);
  const ComparisonRule rule{.known_spread = spread};
  const Values usual = measured(random, 20, 10, 0.001);
  EXPECT_EQ(judged({usual}, {measured(random, 20, 11.5, 0.001)}, rule), Verdict::Undecided);
  EXPECT_EQ(judged({usual}, {measured(random, 20, 15, 0.001)}, rule), Verdict::Slower);
  EXPECT_GT(spread->difference_of_two(), 0.15);
}

TEST(Effect, OfOneRunASideIsSameWhereRunsHardlyDiffer) {
  RunUnits earlier(19);
  RandomNumbers random(6);
  for (Values& run : earlier) run = {10 * std::exp(0.002 * noise(random))};
  const ComparisonRule rule{.threshold = 0.01,
                            .known_spread = spread_within(std::vector<RunUnits>{earlier}, false)};
  const Values usual = measured(random, 20, 10, 0.001);
  EXPECT_EQ(judged({usual}, {measured(random, 20, 10.02, 0.001)}, rule), Verdict::Same);
}

TEST(Effect, OfOneRunASideIsSeldomSameWhereTheChangeIsAsLargeAsTheThreshold) {
  RandomNumbers random(8);
  const auto run = [&] { return Values{10 * std::exp(0.01 * noise(random))}; };
  for (const int others : {5, 12, 20}) {
    int same = 0;
    int same_of_nothing = 0;
    for (int trial = 0; trial < 200; ++trial) {
      RunUnits earlier;
      for (int i = 0; i < others; ++i) earlier.push_back(run());
      const ComparisonRule rule{
          .threshold = 0.05, .known_spread = spread_within(std::vector<RunUnits>{earlier}, false)};
      const Values a = run();
      const Values b = run();
      same += judged({a}, {{b.front() * 1.05}}, rule) == Verdict::Same ? 1 : 0;
      same_of_nothing += judged({a}, {b}, rule) == Verdict::Same ? 1 : 0;
    }
    EXPECT_LE(same, 16) << others;
    EXPECT_GE(same_of_nothing, 140) << others;
  }
}

TEST(Effect, OfSeveralRunsGoesByTheirOwnSpread) {
  RandomNumbers random(4);
  const auto runs = [&](double centre, double between) {
    RunUnits side;
    for (int run = 0; run < 5; ++run) {
      side.push_back(measured(random, 100, centre * std::exp(between * noise(random)), 0.001));
    }
    return side;
  };
  ComparisonRule rule;
  rule.known_spread = RunSpread{.deviation = 10};  // not used: the runs show their own
  const Effect steady = effect_of(runs(10, 0.002), runs(10.5, 0.002), rule);
  EXPECT_EQ(steady.limit, Limit::SeenSpread);
  EXPECT_EQ(verdict_of(steady, steady.p, rule, Better::Lower), Verdict::Slower);
  const Effect shaky = effect_of(runs(10, 0.06), runs(10.5, 0.06), rule);
  EXPECT_EQ(verdict_of(shaky, shaky.p, rule, Better::Lower), Verdict::Undecided);
}

TEST(Effect, OfSeveralRunsOfNothingNewIsSeldomWrong) {
  RandomNumbers random(9);
  int wrong = 0;
  for (int trial = 0; trial < 200; ++trial) {
    RunUnits a;
    RunUnits b;
    for (int run = 0; run < 3; ++run) {
      a.push_back(measured(random, 20, 10 * std::exp(0.03 * noise(random)), 0.01));
      b.push_back(measured(random, 20, 10 * std::exp(0.03 * noise(random)), 0.01));
    }
    const Verdict verdict = judged(a, b, {.threshold = 0, .bootstrap = {.resamples = 400}});
    wrong += verdict == Verdict::Faster || verdict == Verdict::Slower ? 1 : 0;
  }
  EXPECT_LE(wrong, 16);
}

TEST(Effect, OfOneUnitASideNeedsAKnownSpread) {
  const Effect alone = effect_of({{10}}, {{20}}, {});
  EXPECT_FALSE(alone.smallest);
  EXPECT_EQ(verdict_of(alone, alone.p, {}, Better::Lower), Verdict::Undecided);
  const ComparisonRule rule{.known_spread = RunSpread{.deviation = 0.02}};
  const Effect known = effect_of({{10}}, {{20}}, rule);
  EXPECT_EQ(verdict_of(known, known.p, rule, Better::Lower), Verdict::Slower);
  EXPECT_EQ(judged({{10}}, {{10.2}}, rule), Verdict::Undecided);
}

TEST(Effect, SaysWhatItCouldHaveSeen) {
  // A change of that size is found in about four of five comparisons like the one that stated it.
  RandomNumbers random(21);
  Values promised;
  for (int trial = 0; trial < 40; ++trial) {
    const Values a = measured(random, 50, 10, 0.02);
    const Values b = measured(random, 50, 10, 0.02);
    promised.push_back(effect_of({a}, {b}, {}).smallest.value());
  }
  std::sort(promised.begin(), promised.end());
  const int found = counted(Verdict::Slower, 50, promised[20], false);
  EXPECT_GE(found, 140);
  EXPECT_LE(found, 190);
}

TEST(Effect, DependsOnNothingButItsInput) {
  const RunUnits a = {{10, 11, 12, 13, 14, 15}};
  const RunUnits b = {{11, 12, 13, 14, 15, 16}};
  EXPECT_EQ(effect_of(a, b, {}).ratio, effect_of(a, b, {}).ratio);
}

TEST(Spread, IsThatWithinGroups) {
  const std::vector<RunUnits> groups = {{{10}, {10.2}}, {{50}, {51}}, {{7}}};
  const auto spread = spread_within(groups, false);
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->degrees, 2);
  EXPECT_NEAR(spread->deviation, std::log(1.02) / std::sqrt(2.0), 1e-12);
  ASSERT_EQ(spread->differences.size(), 2U);
  EXPECT_NEAR(spread->differences.front(), std::log(1.02), 1e-12);
  EXPECT_FALSE(spread_within(std::vector<RunUnits>{{{7}}, {}}, false));
}

TEST(Spread, OfTheSameInputsIsThatOfPairs) {
  // Every input takes 2 % more, but the medians differ by much more because of an outlier.
  const std::vector<RunUnits> groups = {{{10, 20, 60}, {10.2, 20.4, 12}}};
  EXPECT_NEAR(spread_within(groups, true)->differences.front(), std::log(1.02), 1e-12);
  EXPECT_NEAR(spread_within(groups, false)->differences.front(), std::log(20 / 12.0), 1e-12);
}

}  // namespace
}  // namespace profline::statistics
