#include "statistics/change_points.h"

#include <cmath>
#include <functional>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "statistics/testing_noise.h"

namespace profline::statistics {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Medians over images of the time per token in runs 02 to 12 of tests/golden/identical_runs, in
/// us: real runs of the same thing on a busy machine.
constexpr double kIdenticalRuns[] = {279.4, 277.7, 282.9, 279.9, 283.5, 285.3,
                                     279.8, 284.2, 285.1, 282.6, 283.1};

/// Runs of the same thing, as they come one after the other.
struct Series {
  std::string_view name;
  std::function<std::vector<double>(RandomNumbers&, std::size_t)> make;
};

std::vector<double> independent(RandomNumbers& random, std::size_t size, double deviation) {
  std::vector<double> values;
  for (std::size_t i = 0; i < size; ++i) values.push_back(5 * std::exp(deviation * noise(random)));
  return values;
}

std::vector<double> correlated(RandomNumbers& random, std::size_t size, double rho) {
  std::vector<double> values;
  double state = noise(random);
  for (std::size_t i = 0; i < size; ++i) {
    state = rho * state + std::sqrt(1 - rho * rho) * noise(random);
    values.push_back(5 * std::exp(0.01 * state));
  }
  return values;
}

const Series kOfTheSame[] = {
    {"noise of 1 %",
     [](RandomNumbers& random, std::size_t size) { return independent(random, size, 0.01); }},
    {"noise of 0.1 %",
     [](RandomNumbers& random, std::size_t size) { return independent(random, size, 0.001); }},
    {"noise of 5 %",
     [](RandomNumbers& random, std::size_t size) { return independent(random, size, 0.05); }},
    {"neighbours alike",
     [](RandomNumbers& random, std::size_t size) { return correlated(random, size, 0.5); }},
    {"one run in ten disturbed",
     [](RandomNumbers& random, std::size_t size) {
       std::vector<double> values = independent(random, size, 0.01);
       for (double& value : values) {
         if (random.below(10) == 0) value *= 1 + 0.1 * std::abs(noise(random));
       }
       return values;
     }},
    {"real runs in any order",
     [](RandomNumbers& random, std::size_t size) {
       std::vector<double> values;
       for (std::size_t i = 0; i < size; ++i) values.push_back(kIdenticalRuns[random.below(11)]);
       return values;
     }},
};

TEST(RunsOfTheSameThing, HaveNoChangePoint) {
  constexpr int kSeries = 200;
  for (const Series& kind : kOfTheSame) {
    RandomNumbers random(20261118);
    int alarms = 0;
    for (int i = 0; i < kSeries; ++i) {
      const std::size_t size = 10 + random.below(60);
      if (!change_points(kind.make(random, size)).empty()) ++alarms;
    }
    EXPECT_EQ(alarms, 0) << kind.name;
  }
}

TEST(ASlowDrift, IsSeldomTakenForSteps) {
  RandomNumbers random(20261118);
  int alarms = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> values = independent(random, 10 + random.below(60), 0.01);
    for (std::size_t at = 0; at < values.size(); ++at) {
      values[at] *= 1 + 0.001 * static_cast<double>(at);
    }
    if (!change_points(values).empty()) ++alarms;
  }
  EXPECT_LE(alarms, 2);
}

TEST(TheLastRun, OfTheSameThingIsNotCalledDifferent) {
  constexpr int kSeries = 200;
  for (const Series& kind : kOfTheSame) {
    RandomNumbers random(20261119);
    int alarms = 0;
    for (int i = 0; i < kSeries; ++i) {
      const auto last = last_value(kind.make(random, 10 + random.below(60)));
      ASSERT_TRUE(last);
      if (last->p <= ChangePointRule().chance) ++alarms;
    }
    // One run in ten differs there, and the last run may be one of them.
    EXPECT_LE(alarms, kind.name == "one run in ten disturbed" ? 4 : 0) << kind.name;
  }
}

/// 30 runs, of which the last ones are slower by that much.
std::vector<double> with_step(RandomNumbers& random, double rise, std::size_t at,
                              std::size_t size = 30) {
  std::vector<double> values = independent(random, size, 0.005);
  for (std::size_t i = at; i < size; ++i) values[i] *= 1 + rise;
  return values;
}

TEST(AStep, OfThreePercentIsFoundWhereItIs) {
  RandomNumbers random(7);
  int found = 0;
  int exact = 0;
  constexpr int kSeries = 100;
  for (int i = 0; i < kSeries; ++i) {
    const std::size_t at = 8 + random.below(16);
    const auto steps = change_points(with_step(random, 0.03, at));
    if (steps.size() != 1) continue;
    ++found;
    if (steps[0].at == at) ++exact;
    EXPECT_NEAR(steps[0].change(), 0.03, 0.01);
    EXPECT_LE(steps[0].p, 1e-5);
  }
  EXPECT_GE(found, 97);
  EXPECT_GE(exact, 90);
}

TEST(AStep, IsFoundDespiteOutliers) {
  RandomNumbers random(8);
  std::vector<double> values = with_step(random, 0.05, 15);
  values[3] *= 1.6;
  values[22] *= 0.7;
  const auto steps = change_points(values);
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].at, 15U);
}

TEST(AStep, IsFoundInEachDirection) {
  RandomNumbers random(9);
  std::vector<double> values = with_step(random, 0.10, 15, 45);
  for (std::size_t i = 30; i < values.size(); ++i) values[i] /= 1.2;
  const auto steps = change_points(values);
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_EQ(steps[0].at, 15U);
  EXPECT_EQ(steps[1].at, 30U);
  EXPECT_GT(steps[0].change(), 0);
  EXPECT_LT(steps[1].change(), 0);
}

TEST(AStep, NeedsFourRunsAndAThreshold) {
  RandomNumbers random(10);
  EXPECT_THAT(change_points(with_step(random, 0.5, 27)), IsEmpty());
  EXPECT_THAT(change_points(with_step(random, 0.5, 26)), SizeIs(1));
  EXPECT_THAT(change_points(with_step(random, 0.03, 15), {.threshold = 0.05}), IsEmpty());
  EXPECT_THAT(change_points({}), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>(40, 2.0)), IsEmpty());
}

TEST(TheLastRun, IsComparedWithTheLevelAfterTheLastStep) {
  RandomNumbers random(11);
  std::vector<double> values = with_step(random, 0.10, 15);
  values.push_back(values.back());
  EXPECT_EQ(last_value(values)->p, 1);
  values.back() *= 1.2;
  const auto slower = last_value(values);
  EXPECT_LT(slower->p, 1e-5);
  EXPECT_NEAR(slower->change, 0.2, 0.02);
  EXPECT_NEAR(slower->before, 5.5, 0.05);
  EXPECT_LT(slower->smallest, 0.06);
  EXPECT_FALSE(last_value(std::vector<double>(4, 1.0)));
}

}  // namespace
}  // namespace profline::statistics
