#include "statistics/steady_state.h"

#include <cmath>
#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "statistics/summary.h"
#include "statistics/testing_noise.h"

namespace profline::statistics {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Values = std::vector<double>;
using Shapes = std::vector<std::size_t>;

/// A series of which `level` gives the true values, with 2 % of noise.
Values planted(std::size_t size, const std::function<double(std::size_t)>& level,
               double deviation = 0.02) {
  RandomNumbers random(size);
  Values values;
  for (std::size_t i = 0; i < size; ++i) {
    values.push_back(level(i) * std::exp(deviation * noise(random)));
  }
  return values;
}

std::vector<std::size_t> costs(const SteadyState& state, OneTime reason) {
  std::vector<std::size_t> indices;
  for (const OneTimeCost& cost : state.one_time) {
    if (cost.reason == reason) indices.push_back(cost.index);
  }
  return indices;
}

bool is_alarm(const SteadyState& state) {
  return state.verdict == Steadiness::Drifting || state.first > 0 || !state.one_time.empty() ||
         !state.recurring.empty() || state.levels;
}

TEST(SteadyState, FewMeasurementsAreTooShortToTell) {
  for (const Values& values : {Values{}, {5}, {5, 6}, {5, 6, 4, 5, 5, 6, 7}, {0, 0, 0}}) {
    const SteadyState state = steady_state(values);
    EXPECT_EQ(state.verdict, Steadiness::TooShort);
    EXPECT_FALSE(is_alarm(state)) << values.size();
    EXPECT_EQ(state.steady(values.size()).size(), values.size());
  }
}

TEST(SteadyState, FourPagesOfAnH200AreNotJudgedByTheirMean) {
  const Values prefill = {16.4, 172, 19.5, 13.7};
  const SteadyState state = steady_state(prefill);
  EXPECT_EQ(state.verdict, Steadiness::TooShort);
  EXPECT_THAT(costs(state, OneTime::Event), ElementsAre(1));
  EXPECT_DOUBLE_EQ(state.one_time.at(0).typical, 16.4);
  EXPECT_THAT(state.steady(4), ElementsAre(0, 2, 3));
  const Shapes shapes = {0, 1, 0, 0};
  EXPECT_EQ(steady_state(prefill, {.shapes = shapes}).one_time.at(0).reason, OneTime::FirstUse);
}

TEST(SteadyState, TheFirstOfFewIsAWarmUpIfItIsSeveralTimesAsLong) {
  EXPECT_THAT(steady_state(Values{220, 4.8, 4.9, 4.7}).steady(4), ElementsAre(1, 2, 3));
  EXPECT_THAT(costs(steady_state(Values{220, 50, 5, 4.8, 5.1}), OneTime::WarmUp),
              ElementsAre(0, 1));
  EXPECT_THAT(costs(steady_state(Values{220, 4.8}), OneTime::WarmUp), ElementsAre(0));
  EXPECT_THAT(steady_state(Values{9, 4.8, 4.9, 4.7}).one_time, IsEmpty());
}

// Prefill of twelve requests of a transformers program on an H200, whose host was busy.
TEST(SteadyState, TheFirstOfManyNoisyOnesIsAWarmUp) {
  const Values times = {354.7, 25.6, 52.1, 58.8, 45.1, 54.1, 41.3, 55.3, 27.5, 30.6, 25.6, 26.2};
  const SteadyState state = steady_state(times);
  ASSERT_EQ(state.one_time.size(), 1U);
  EXPECT_EQ(state.one_time[0].index, 0U);
  EXPECT_EQ(state.one_time[0].reason, OneTime::WarmUp);
}

TEST(SteadyState, NothingSaysWhichOfTwoIsTheRule) {
  const Shapes shapes = {0, 1};
  for (const SeriesFacts& facts : {SeriesFacts(), SeriesFacts{.shapes = shapes}}) {
    const SteadyState state = steady_state(Values{4.8, 220}, facts);
    EXPECT_FALSE(is_alarm(state));
    EXPECT_THAT(state.steady(2), ElementsAre(0, 1));
  }
}

TEST(SteadyState, ShapesAreComparedWithThemselves) {
  const Shapes shapes = {0, 1, 0, 1};
  EXPECT_FALSE(is_alarm(steady_state(Values{10, 40, 10, 38}, {.shapes = shapes})));
  const SteadyState state = steady_state(Values{100, 40, 10, 5}, {.shapes = shapes});
  EXPECT_THAT(costs(state, OneTime::WarmUp), ElementsAre(0));
  EXPECT_THAT(costs(state, OneTime::FirstUse), ElementsAre(1));
  EXPECT_DOUBLE_EQ(state.one_time.at(1).typical, 5);
  Shapes many;
  const Values series = planted(30, [&](std::size_t i) {
    many.push_back(i % 3);
    return (i < 3 ? 99.0 : 10.0) * static_cast<double>(1 + i % 3);
  });
  const SteadyState thrice = steady_state(series, {.shapes = many});
  EXPECT_THAT(costs(thrice, OneTime::WarmUp), ElementsAre(0));
  EXPECT_THAT(costs(thrice, OneTime::FirstUse), ElementsAre(1, 2));
  EXPECT_EQ(thrice.verdict, Steadiness::Steady);
}

/// Garbage collections every 25 measurements, the first of which is the 13th.
double collected(std::size_t index) {
  return index % 25 == 12 ? 60 : 10;
}

TEST(SteadyState, PeriodicCollectionIsNotTheFirstUseOfManyShapes) {
  for (const std::size_t uses : {1U, 2U, 4U}) {
    SCOPED_TRACE(uses);
    Shapes shapes;
    Values work;
    const Values times = planted(200, [&](std::size_t i) {
      const std::size_t count = 200 / uses;
      shapes.push_back((i + 7 * (i / count)) % count);  // in another order each time
      work.push_back(100 + 10 * static_cast<double>(shapes.back() * 37 % 101));
      return collected(i) * work.back() / 100;
    });
    const SteadyState state = steady_state(times, {.shapes = shapes, .work = work});
    EXPECT_EQ(state.verdict, Steadiness::Steady);
    EXPECT_THAT(state.one_time, IsEmpty());
    EXPECT_EQ(state.recurring.size(), 8U);
    EXPECT_EQ(state.period, 25U);
  }
}

TEST(SteadyState, ShapesThatComeOneAfterAnotherAreStillUsedForTheFirstTime) {
  Shapes shapes;
  const Values times = planted(60, [&](std::size_t i) {
    shapes.push_back(i / 10);
    return i % 10 == 0 ? 60 : 10;
  });
  const SteadyState state = steady_state(times, {.shapes = shapes});
  EXPECT_THAT(costs(state, OneTime::WarmUp), ElementsAre(0));
  EXPECT_THAT(costs(state, OneTime::FirstUse), ElementsAre(10, 20, 30, 40, 50));
}

TEST(SteadyState, TheOnlyUseOfAShapeIsItsFirstAmongShapesThatRepeat) {
  Shapes shapes(40, 0);
  shapes[17] = 1;
  shapes[30] = 2;
  const Values times = planted(40, [](std::size_t i) { return i == 17 || i == 30 ? 60 : 10; });
  EXPECT_THAT(costs(steady_state(times, {.shapes = shapes}), OneTime::FirstUse),
              ElementsAre(17, 30));
}

TEST(SteadyState, AmongManySeriesTheSignsMustBeClearer) {
  const Values outlier{10, 10.7, 9.3, 10, 10.7, 9.3, 10.7, 9.3, 30, 10};
  EXPECT_THAT(costs(steady_state(outlier), OneTime::Event), ElementsAre(8));
  EXPECT_FALSE(is_alarm(steady_state(outlier, {.examined = 16})));
  const Values step{12, 11.9, 12.1, 11.8, 12.2, 10.1, 9.9, 10.2, 10, 9.8, 10.1, 9.9};
  EXPECT_EQ(steady_state(step).first, 5U);
  EXPECT_FALSE(is_alarm(steady_state(step, {.examined = 10'000'000})));
}

TEST(SteadyState, MoreWorkMayTakeLonger) {
  const Values work = {100, 1000, 110, 90};
  const Shapes shapes = {0, 1, 2, 3};
  EXPECT_FALSE(is_alarm(steady_state(Values{10, 95, 11, 9}, {.shapes = shapes, .work = work})));
  EXPECT_TRUE(is_alarm(steady_state(Values{10, 950, 11, 9}, {.shapes = shapes, .work = work})));
  // Prompts in the order of their length are no drift.
  Values growing;
  const Values times = planted(40, [&](std::size_t i) {
    growing.push_back(100 + 50 * static_cast<double>(i));
    return growing.back() / 7;
  });
  EXPECT_FALSE(is_alarm(steady_state(times, {.work = growing})));
  EXPECT_TRUE(is_alarm(steady_state(times)));
}

TEST(SteadyState, AWarmUpIsCutOffWhereTheSeriesSettles) {
  const SteadyState step = steady_state(planted(40, [](std::size_t i) { return i < 6 ? 13 : 10; }));
  EXPECT_EQ(step.verdict, Steadiness::Steady);
  EXPECT_EQ(step.first, 6U);
  EXPECT_THAT(costs(step, OneTime::WarmUp), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_NEAR(step.one_time.front().typical, 10, 0.2);
  const SteadyState decay = steady_state(
      planted(60, [](std::size_t i) { return 10 * (1 + std::exp(-static_cast<double>(i) / 4)); }));
  EXPECT_EQ(decay.verdict, Steadiness::Steady);
  EXPECT_GE(decay.first, 8U);
  EXPECT_LE(decay.first, 24U);
}

TEST(SteadyState, AFastStartIsNotACostButNotSteadyEither) {
  const SteadyState state =
      steady_state(planted(40, [](std::size_t i) { return i < 8 ? 10 : 13; }));
  EXPECT_EQ(state.verdict, Steadiness::Steady);
  EXPECT_EQ(state.first, 8U);
  EXPECT_THAT(state.one_time, IsEmpty());
}

TEST(SteadyState, ALateStepLeavesNoSteadyPart) {
  const Values series = planted(40, [](std::size_t i) { return i < 30 ? 10 : 13; });
  EXPECT_EQ(steady_state(series).verdict, Steadiness::Drifting);
  EXPECT_EQ(steady_state(series, {.grows = true}).verdict, Steadiness::Steady);
}

TEST(SteadyState, ATrendLeavesNoSteadyPart) {
  for (const double rise : {0.3, -0.25}) {
    const SteadyState state = steady_state(
        planted(60, [&](std::size_t i) { return 10 * (1 + rise * static_cast<double>(i) / 60); }));
    EXPECT_EQ(state.verdict, Steadiness::Drifting) << rise;
    EXPECT_THAT(state.one_time, IsEmpty());
  }
}

TEST(SteadyState, PeriodicCollectionBelongsToTheSteadyState) {
  const SteadyState state =
      steady_state(planted(200, [](std::size_t i) { return i % 25 == 24 ? 40 : 10; }));
  EXPECT_EQ(state.verdict, Steadiness::Steady);
  EXPECT_EQ(state.recurring.size(), 8U);
  EXPECT_EQ(state.period, 25U);
  EXPECT_THAT(state.one_time, IsEmpty());
  EXPECT_EQ(state.steady(200).size(), 200U);
  const SteadyState irregular = steady_state(
      planted(60, [](std::size_t i) { return i == 7 || i == 11 || i == 40 || i == 52 ? 40 : 10; }));
  EXPECT_EQ(irregular.recurring.size(), 4U);
  EXPECT_EQ(irregular.period, std::nullopt);
}

TEST(SteadyState, OneOutlierIsAnEventAndNothingElse) {
  const SteadyState state =
      steady_state(planted(50, [](std::size_t i) { return i == 23 ? 60 : 10; }));
  EXPECT_EQ(state.verdict, Steadiness::Steady);
  EXPECT_EQ(state.first, 0U);
  EXPECT_THAT(costs(state, OneTime::Event), ElementsAre(23));
  EXPECT_EQ(state.one_time.size(), 1U);
}

TEST(SteadyState, TwoClockRatesAreBothSteady) {
  const SteadyState state =
      steady_state(planted(60, [](std::size_t i) { return (i / 7) % 2 == 0 ? 10 : 12; }));
  EXPECT_EQ(state.verdict, Steadiness::Steady);
  ASSERT_TRUE(state.levels);
  EXPECT_NEAR(state.levels->low, 10, 0.2);
  EXPECT_NEAR(state.levels->high, 12, 0.2);
  EXPECT_EQ(state.steady(60).size(), 60U);
}

TEST(SteadyState, MarksOfTheWorkloadCount) {
  const Values values = planted(12, [](std::size_t i) { return i == 5 ? 13 : 10; });
  const std::vector<std::size_t> marked = {5};
  EXPECT_THAT(costs(steady_state(values, {.marked = marked}), OneTime::Marked), ElementsAre(5));
  EXPECT_THAT(steady_state(values).one_time, IsEmpty());
  const std::vector<std::size_t> most = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_THAT(steady_state(values, {.marked = most}).one_time, IsEmpty());
}

TEST(SteadyState, TimesOfZeroAreNoCost) {
  EXPECT_THAT(steady_state(Values{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}).one_time, IsEmpty());
}

/// Noise of a run in which nothing changes.
struct Noise {
  const char* name;
  double deviation;
  double correlation;  ///< of neighbours
  bool is_log_normal;
};

Values aa_series(const Noise& like, std::size_t size, RandomNumbers& random) {
  Values values;
  double state = noise(random);
  for (std::size_t i = 0; i < size; ++i) {
    state = like.correlation * state +
            std::sqrt(1 - like.correlation * like.correlation) * noise(random);
    const double change = like.deviation * state;
    values.push_back(10 * (like.is_log_normal ? std::exp(change) : 1 + change));
  }
  return values;
}

TEST(SteadyState, RaisesFewFalseAlarms) {
  constexpr Noise kNoises[] = {{"Gaussian, 2 %", 0.02, 0, false},
                               {"Gaussian, 10 %", 0.1, 0, false},
                               {"log-normal, 20 %", 0.2, 0, true},
                               {"correlated Gaussian, 5 %", 0.05, 0.5, false},
                               {"correlated log-normal, 20 %", 0.2, 0.5, true}};
  constexpr std::size_t kSeries = 500;  // of each noise and length: 17500 in all
  constexpr std::size_t kMost = kSeries * 2 / 100;
  for (const Noise& like : kNoises) {
    for (const std::size_t size : {3U, 5U, 8U, 12U, 20U, 50U, 200U}) {
      RandomNumbers random(size);
      std::size_t alarms = 0;
      for (std::size_t i = 0; i < kSeries; ++i) {
        if (is_alarm(steady_state(aa_series(like, size, random)))) ++alarms;
      }
      EXPECT_LE(alarms, kMost) << like.name << ", " << size << " values";
    }
  }
}

TEST(SteadyState, RaisesFewFalseAlarmsOnMixedShapes) {
  constexpr std::size_t kSeries = 2000;
  RandomNumbers random(1);
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < kSeries; ++i) {
    const std::size_t size = 4 + random.below(30);
    Values values;
    Values work;
    Shapes shapes;
    for (std::size_t k = 0; k < size; ++k) {
      shapes.push_back(random.below(4));
      work.push_back(static_cast<double>(100 * (1 + shapes.back())));
      values.push_back((5 + work.back() / 50) * std::exp(0.1 * noise(random)));
    }
    if (is_alarm(steady_state(values, {.shapes = shapes, .work = work}))) ++alarms;
  }
  EXPECT_LE(alarms, kSeries * 2 / 100);
}

TEST(SteadyState, RaisesFewFalseAlarmsOnShapesThatNeverRepeat) {
  constexpr std::size_t kSeries = 2000;
  RandomNumbers random(2);
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < kSeries; ++i) {
    const std::size_t size = 4 + random.below(100);
    Values values;
    Values work;
    Shapes shapes;
    for (std::size_t k = 0; k < size; ++k) {
      shapes.push_back(k);
      work.push_back(static_cast<double>(100 + random.below(2000)));
      values.push_back((5 + work.back() / 50) * std::exp(0.1 * noise(random)));
    }
    if (is_alarm(steady_state(values, {.shapes = shapes, .work = work}))) ++alarms;
  }
  EXPECT_LE(alarms, kSeries * 2 / 100);
}

}  // namespace
}  // namespace profline::statistics
