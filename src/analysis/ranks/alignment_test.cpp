#include <vector>

#include <gtest/gtest.h>

#include "analysis/ranks/analysis.h"
#include "analysis/ranks/clocks.h"

namespace profline::ranks {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Collectives of 1 ms every 10 ms, by a clock that is behind by 5 ms.
std::vector<ClockPair> pairs(int count) {
  std::vector<ClockPair> pairs;
  for (int i = 0; i < count; ++i) {
    const std::int64_t end_ns = 10 * kMs * (i + 1);
    pairs.push_back({end_ns - kMs, end_ns, end_ns + 4 * kMs, end_ns + 5 * kMs});
  }
  return pairs;
}

TEST(ClockFit, IsTheMedianOfTheEnds) {
  std::vector<ClockPair> some = pairs(9);
  some[3].to_end_ns += 3 * kMs;  // an outlier
  const auto fit = fit_clock(some);
  ASSERT_TRUE(fit) << fit.error().to_string();
  EXPECT_EQ(fit->map.apply(0), 5 * kMs);
  EXPECT_EQ(fit->map.rate, 0);
  EXPECT_EQ(fit->pairs, 9U);
  EXPECT_EQ(fit->uncertainty_ns, 1000) << "no less than profilers resolve";
}

TEST(ClockFit, RefusesWhatDoesNotRelateTheClocks) {
  std::vector<ClockPair> few = pairs(4);
  EXPECT_EQ(fit_clock(few).error().message(), "only 4 collectives were matched; 5 are needed");

  std::vector<ClockPair> scattered = pairs(12);
  for (std::size_t i = 0; i < scattered.size(); ++i) {
    const std::int64_t by_ns = static_cast<std::int64_t>(i * i % 7) * 3 * kMs;
    scattered[i].to_start_ns += by_ns;
    scattered[i].to_end_ns += by_ns;
  }
  EXPECT_EQ(fit_clock(scattered).error().message(),
            "the ends of its collectives disagree: a quarter of them by more than 6.00 ms, "
            "although the transfers take 1.00 ms");

  // The ends agree within the 0.2 ms that need no comparison with the transfers, but the transfers
  // take 10 us: in a third of them, one rank would leave ahead of the arrival of the other.
  std::vector<ClockPair> impossible = pairs(30);
  for (std::size_t i = 0; i < impossible.size(); ++i) {
    ClockPair& pair = impossible[i];
    if (i % 3 == 0) pair.to_end_ns += kMs / 10;
    pair.own_start_ns = pair.own_end_ns - kMs / 100;
    pair.to_start_ns = pair.to_end_ns - kMs / 100;
  }
  EXPECT_EQ(fit_clock(impossible).error().message(),
            "10 of 30 collectives would end on one rank ahead of the other's arrival");
}

TEST(ClockFit, FollowsAClockThatRunsFaster) {
  std::vector<ClockPair> drifting = pairs(50);
  for (ClockPair& pair : drifting) {
    pair.to_start_ns += pair.own_end_ns / 10'000;
    pair.to_end_ns += pair.own_end_ns / 10'000;
  }
  const auto fit = fit_clock(drifting);
  ASSERT_TRUE(fit) << fit.error().to_string();
  EXPECT_NEAR(fit->map.rate, 1e-4, 1e-6);
  EXPECT_NEAR(static_cast<double>(fit->map.apply(400 * kMs)), 405.04 * kMs, 1000);
}

TEST(CollectiveClassOf, IsInconclusiveWhereTheUncertaintyDecides) {
  struct Case {
    std::int64_t skew_ns;
    std::optional<std::int64_t> uncertainty_ns;
    bool is_complete;
    CollectiveClass expected;
  };
  const Case kCases[] = {
      {100, 10, true, CollectiveClass::Transfer},
      {500, 10, true, CollectiveClass::Mixed},
      {900, 10, true, CollectiveClass::Skew},
      {300, 100, true, CollectiveClass::Inconclusive},
      {500, 500, true, CollectiveClass::Inconclusive},
      {900, {}, true, CollectiveClass::Inconclusive},
      {100, 10, false, CollectiveClass::Inconclusive},
      {900, 10, false, CollectiveClass::Skew},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(class_of(1000, c.skew_ns, c.uncertainty_ns, c.is_complete), c.expected)
        << c.skew_ns << ' ' << c.uncertainty_ns.value_or(-1);
  }
  EXPECT_EQ(class_of(0, 0, 0, true), CollectiveClass::Inconclusive);
}

}  // namespace
}  // namespace profline::ranks
