#include "analysis/energy/energy.h"

#include <functional>

#include <gtest/gtest.h>

namespace profline::energy {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Ten readings per second for so many seconds, at 300 W.
std::vector<GpuReading> steady_readings(double seconds) {
  std::vector<GpuReading> readings;
  for (int i = 0; i <= static_cast<int>(seconds * 10); ++i) {
    GpuReading reading;
    reading.at_s = i * 0.1;
    reading.monotonic_ns = 5 * kSecond + i * kSecond / 10;
    reading.energy_j = 1000 + 30.0 * i;
    reading.instant_power_w = 300;
    readings.push_back(reading);
  }
  return readings;
}

Window window(double from, double to) {
  return {5 * kSecond + static_cast<std::int64_t>(from * 1e9),
          5 * kSecond + static_cast<std::int64_t>(to * 1e9)};
}

SummaryEnergy measured(const std::vector<GpuReading>& readings, const Window& one) {
  return energy_in(readings, {&one, 1});
}

TEST(Energy, IsTheCountersAndPowerOverTimeAgrees) {
  const SummaryEnergy energy = measured(steady_readings(10), window(1, 4));
  ASSERT_TRUE(energy.joules) << energy.withheld;
  EXPECT_NEAR(*energy.joules, 900, 1e-6);
  EXPECT_NEAR(*energy.integrated_j, 900, 1e-6);
  EXPECT_NEAR(*energy.difference, 0, 1e-9);
  EXPECT_TRUE(energy.notes.empty());
}

TEST(Energy, AtTheEdgesIsInterpolated) {
  const SummaryEnergy energy = measured(steady_readings(10), window(1.03, 4.07));
  EXPECT_NEAR(*energy.counter_j, 912, 1e-6);
  EXPECT_NEAR(*energy.integrated_j, 912, 1e-6);
}

TEST(Energy, OfSeveralWindowsIsTheirSum) {
  const std::vector<Window> windows = {window(1, 2), window(3, 5)};
  EXPECT_NEAR(*energy_in(steady_readings(10), windows).joules, 900, 1e-6);
}

/// Readings with a fault, and what is said about it.
struct Fault {
  const char* name;
  std::function<void(std::vector<GpuReading>&)> make;
  const char* withheld;
};

TEST(Energy, IsWithheldWithAReason) {
  const Fault faults[] = {
      {"the sources differ",
       [](auto& readings) {
         for (GpuReading& reading : readings) reading.instant_power_w = 250;
       },
       "the energy counter (900 J) and the integrated power (750 J) differ by 16.7 %"},
      {"counter reset, no power",
       [](auto& readings) {
         for (std::size_t i = 20; i < readings.size(); ++i) *readings[i].energy_j -= 1400;
         for (GpuReading& reading : readings) reading.instant_power_w.reset();
       },
       "its energy counter was reset in between; this device does not report its instantaneous "
       "power"},
      {"nothing supported",
       [](auto& readings) {
         for (GpuReading& reading : readings) {
           reading.energy_j.reset();
           reading.instant_power_w.reset();
         }
       },
       "this device does not report its total energy; this device does not report its "
       "instantaneous power"},
      {"a gap",
       [](auto& readings) { readings.erase(readings.begin() + 15, readings.begin() + 30); },
       "its total energy was not read for 1.6 s in between; its instantaneous power was not read "
       "for 1.6 s in between"},
      {"it ends too soon", [](auto& readings) { readings.resize(20); },
       "its total energy was not read for the whole time; its instantaneous power was not read "
       "for the whole time"},
      {"it begins too late",
       [](auto& readings) { readings.erase(readings.begin(), readings.begin() + 12); },
       "its total energy was not read for the whole time; its instantaneous power was not read "
       "for the whole time"},
      {"a counter that stands still",
       [](auto& readings) {
         for (GpuReading& reading : readings) reading.energy_j = 1000;
       },
       "the energy counter (0 J) and the integrated power (900 J) differ by 100.0 %"},
      {"no readings", [](auto& readings) { readings.clear(); },
       "this device does not report its total energy; this device does not report its "
       "instantaneous power"},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.name);
    std::vector<GpuReading> readings = steady_readings(10);
    fault.make(readings);
    const SummaryEnergy energy = measured(readings, window(1, 4));
    EXPECT_FALSE(energy.joules);
    EXPECT_EQ(energy.withheld, fault.withheld);
  }
}

TEST(Energy, OfOneSourceSaysThatItWasNotChecked) {
  std::vector<GpuReading> readings = steady_readings(10);
  for (GpuReading& reading : readings) reading.instant_power_w.reset();
  SummaryEnergy energy = measured(readings, window(1, 4));
  EXPECT_NEAR(energy.joules.value_or(0), 900, 1e-6);
  ASSERT_EQ(energy.notes.size(), 1U);
  EXPECT_EQ(energy.notes[0],
            "not checked by a second source: this device does not report its instantaneous power");
  readings = steady_readings(10);
  for (std::size_t i = 20; i < readings.size(); ++i) *readings[i].energy_j -= 1400;
  energy = measured(readings, window(1, 4));
  EXPECT_NEAR(energy.joules.value_or(0), 900, 1e-6);
  EXPECT_EQ(energy.notes[0],
            "not checked by a second source: its energy counter was reset in between");
}

TEST(Energy, OfLessThanASecondIsNotMeasured) {
  const SummaryEnergy energy = measured(steady_readings(10), window(1, 1.5));
  EXPECT_FALSE(energy.joules);
  EXPECT_EQ(energy.withheld, "0.5 s are too short to measure energy: it takes 1 s");
}

TEST(Energy, MissingReadingsOfOneKindAreNoGapOfTheOther) {
  std::vector<GpuReading> readings = steady_readings(10);
  readings[20].instant_power_w.reset();
  EXPECT_NEAR(*measured(readings, window(1, 4)).integrated_j, 900, 1e-6);
}

/// A request of `seconds`, half a second of it prefill and the rest decode.
Request request(std::uint64_t id, double start, double seconds, std::uint64_t tokens) {
  Request one;
  one.id = id;
  one.start_ns = 5 * kSecond + static_cast<std::int64_t>(start * 1e9);
  one.ns = static_cast<std::int64_t>(seconds * 1e9);
  one.new_tokens = tokens;
  Phase prefill;
  prefill.path = "prefill";
  prefill.start_ns = 0;
  prefill.ns = kSecond / 2;
  Phase decode;
  decode.path = "decode";
  decode.start_ns = kSecond / 2;
  decode.ns = one.ns - kSecond / 2;
  decode.steps_ns =
      std::vector<std::int64_t>(tokens - 1, decode.ns / static_cast<std::int64_t>(tokens - 1));
  one.phases = {prefill, decode};
  return one;
}

std::vector<Request> requests_every(double seconds, std::size_t count) {
  std::vector<Request> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(request(i, seconds * static_cast<double>(i), seconds, 101));
  }
  return all;
}

TEST(RequestEnergy, IsThatOfTheSteadyRequestsAndOfPhasesThatRanAlone) {
  const auto all = energy_of(steady_readings(40), requests_every(3, 12));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].phase, "");
  ASSERT_TRUE(all[0].joules) << all[0].withheld;
  EXPECT_NEAR(*all[0].joules, 300 * all[0].seconds, 1e-3);
  EXPECT_EQ(all[0].tokens, 101 * all[0].requests);
  EXPECT_NEAR(*all[0].joules_per_token, 900.0 / 101, 1e-6);
  EXPECT_NEAR(*all[0].tokens_per_joule, 101 / 900.0, 1e-6);
  EXPECT_NEAR(*all[0].watts, 300, 1e-6);
  // Prefill is too short; decode takes two and a half seconds of each request.
  EXPECT_EQ(all[1].phase, "decode");
  EXPECT_NEAR(*all[1].joules_per_token, 7.5, 1e-6);
}

TEST(RequestEnergy, OfPhasesThatOverlapOtherRequestsIsNotKnown) {
  std::vector<Request> all = requests_every(3, 12);
  for (std::size_t i = 0; i < 12; ++i) {
    all.push_back(request(20 + i, 3 * static_cast<double>(i) + 1, 3, 101));
  }
  EXPECT_EQ(energy_of(steady_readings(60), all).size(), 1U);
}

TEST(RequestEnergy, WithoutTokensIsOnlyEnergy) {
  std::vector<Request> all = requests_every(3, 12);
  for (Request& one : all) one.new_tokens.reset();
  const auto energy = energy_of(steady_readings(40), all);
  EXPECT_TRUE(energy[0].joules);
  EXPECT_FALSE(energy[0].joules_per_token);
}

TEST(RequestEnergy, PerTokenCountsTheSequencesThatWereReturned) {
  std::vector<Request> all = requests_every(3, 12);
  for (Request& one : all) one.batch = 8;
  auto energy = energy_of(steady_readings(40), all);
  EXPECT_NEAR(*energy[0].joules_per_token, 900.0 / 808, 1e-6);
  EXPECT_NEAR(*energy[1].joules_per_token, 7.5 / 8, 1e-6);
  for (Request& one : all) one.attributes["beams"] = Node::integer(4);
  energy = energy_of(steady_readings(40), all);
  EXPECT_NEAR(*energy[0].joules_per_token, 900.0 / 202, 1e-6);
  EXPECT_NEAR(*energy[1].joules_per_token, 7.5 / 2, 1e-6);
}

TEST(RequestEnergy, PerTokenIsAFigureOfTheRun) {
  const auto series = series_of(steady_readings(40), requests_every(3, 12));
  ASSERT_TRUE(series);
  EXPECT_EQ(series->name, "token_energy_j");
  ASSERT_EQ(series->units.size(), 1U);
  EXPECT_NEAR(series->units[0], 900.0 / 101, 1e-6);
  std::vector<GpuReading> differing = steady_readings(40);
  for (GpuReading& reading : differing) reading.instant_power_w = 100;
  EXPECT_FALSE(series_of(differing, requests_every(3, 12)));
}

TEST(LoadEnergy, IsThatOfTheSteadyPartOfTheLoad) {
  // Requests overlap: eight at a time, one of 2 s every quarter of a second from 3 s on.
  std::vector<Request> all(100);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].start_ns = 8 * kSecond + static_cast<std::int64_t>(i) * kSecond / 4;
    all[i].ns = 2 * kSecond;
  }
  LoadRecord load;
  load.metrics.e2e.n = 80;  // from 8 s on
  load.steady.start_s = 5;
  load.steady.end_s = 25;
  load.metrics.output_tokens.per_second.emplace().value = 600;
  const auto energy = energy_of(steady_readings(40), all, load);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->seconds, 20);
  EXPECT_EQ(energy->requests, 80U);
  EXPECT_EQ(energy->tokens, 12'000U);
  EXPECT_NEAR(energy->joules.value_or(0), 6'000, 1e-6);
  EXPECT_NEAR(energy->joules_per_token.value_or(0), 0.5, 1e-9);
  EXPECT_EQ(energy->notes.size(), 1U) << "of one GPU";
  const auto series = series_of(steady_readings(40), all, load);
  ASSERT_TRUE(series);
  EXPECT_EQ(series->name, "token_energy_j");
  EXPECT_NEAR(series->units.front(), 0.5, 1e-9);
  EXPECT_FALSE(energy_of(steady_readings(40), {}, load));
  EXPECT_FALSE(series_of(steady_readings(4), all, load)) << "the server was not watched for long";
}

TEST(RepeatedEnergy, IsThatOfItsOwnTime) {
  const RepeatedPhase repeated{"decode", 7 * kSecond, 9 * kSecond, 1, 300};
  const SummaryEnergy energy = energy_of(steady_readings(10), repeated);
  EXPECT_EQ(energy.phase, "decode");
  EXPECT_NEAR(*energy.joules_per_token, 2, 1e-6);
  ASSERT_EQ(energy.notes.size(), 1U);
  EXPECT_FALSE(energy_of(steady_readings(3), repeated).joules);
}

TEST(RequestEnergy, NeedsToKnowWhen) {
  std::vector<GpuReading> old = steady_readings(40);
  for (GpuReading& reading : old) reading.monotonic_ns.reset();
  EXPECT_TRUE(energy_of(old, requests_every(3, 12)).empty());
  std::vector<Request> all = requests_every(3, 12);
  all[3].start_ns.reset();
  EXPECT_TRUE(energy_of(steady_readings(40), all).empty());
  EXPECT_TRUE(energy_of(steady_readings(40), std::span<const Request>()).empty());
}

}  // namespace
}  // namespace profline::energy
