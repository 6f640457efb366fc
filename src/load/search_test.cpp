#include "load/search.h"

#include <functional>

#include <gtest/gtest.h>

namespace profline::load {
namespace {

/// Runs a search against a server that is good for the share `good(rate)` of 200 requests.
LoadSearch search(const SearchRule& rule, const std::function<double(double rate)>& good) {
  std::vector<LoadTrial> trials;
  while (const auto rate = next_rate(trials, rule)) {
    LoadTrial trial;
    trial.rate = *rate;
    trial.requests = 200;
    trial.good = static_cast<std::uint64_t>(200 * good(*rate));
    trial.met = good(*rate) >= rule.share;
    trials.push_back(trial);
  }
  return search_result(std::move(trials), rule);
}

TEST(Search, FindsThePlantedCapacityWithinItsResolution) {
  for (const double capacity : {0.07, 3.3, 40.0, 777.0}) {
    for (const double first : {0.5, 20.0, 1000.0}) {
      const auto found =
          search({.first_rate = first}, [&](double rate) { return rate <= capacity ? 1.0 : 0.4; });
      ASSERT_TRUE(found.rate) << capacity;
      EXPECT_LE(*found.rate, capacity);
      EXPECT_GT(*found.rate * 1.02, capacity);
      EXPECT_GT(*found.missed_rate, capacity);
      EXPECT_EQ(found.confirmations, 2U);
      EXPECT_LE(found.trials.size(), 25U);
    }
  }
}

TEST(Search, SaysThatNoRateOrThatEveryRateMeetsTheSlos) {
  const auto none = search({.first_rate = 4}, [](double) { return 0.5; });
  EXPECT_EQ(none.rate, std::nullopt);
  EXPECT_EQ(none.confidence, "no rate that was tried met the SLOs for 90 % of the requests");
  const auto every = search({.first_rate = 4, .most_rate = 100}, [](double) { return 1.0; });
  EXPECT_EQ(every.rate, 100);
  EXPECT_EQ(every.missed_rate, std::nullopt);
  EXPECT_EQ(every.confidence,
            "100.0 % of the requests were good at this rate (95 % interval 99.0 % to 100.0 %); no "
            "higher rate was tried");
}

TEST(Search, GivesUpARateThatItsConfirmationMisses) {
  int runs = 0;
  const auto found = search({.first_rate = 8}, [&](double rate) {
    if (rate <= 9) return 1.0;
    if (rate > 11) return 0.0;
    return ++runs == 1 ? 0.92 : 0.5;  // between them, only the first run is good enough
  });
  ASSERT_TRUE(found.rate);
  EXPECT_LE(*found.rate, 9.0);
  EXPECT_GT(*found.rate, 8.8);
}

TEST(Search, EndsWhateverHappens) {
  std::uint64_t noise = 1;
  const auto found = search({.first_rate = 1, .most_trials = 30}, [&](double) {
    noise = noise * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(noise >> 40U) / static_cast<double>(1U << 24U);
  });
  EXPECT_LE(found.trials.size(), 30U);
}

}  // namespace
}  // namespace profline::load
