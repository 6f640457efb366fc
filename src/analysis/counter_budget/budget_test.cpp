#include "analysis/counter_budget/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/paths.h"
#include "tools/nsys/sqlite_reader.h"

namespace profline::counter_budget {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::vector<Collection> kCollections = {{"all sections", 18}, {"the roofline", 9}};

/// Kernels with these times; launches by kernel.
Census census_of(std::vector<std::int64_t> times_ns, std::vector<std::uint32_t> launches) {
  Census census;
  for (const std::int64_t ns : times_ns) census.kernels.push_back({.exclusive_ns = ns});
  census.launches = std::move(launches);
  census.all_launches = census.launches.size();
  return census;
}

TEST(CounterBudget, TakesTheShortestStretchThatCoversMost) {
  // Two layers of a, b and c, then the head: d.
  const Census census = census_of({40, 30, 20, 10}, {0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3});
  const auto choice = choose(census, kCollections, {}, seconds(60));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->count, 4U) << "c of the last layer, the head, and the next a and b";
  EXPECT_EQ(choice->covered_ns, 100);
  EXPECT_EQ(choice->kernels, 4U);
  EXPECT_DOUBLE_EQ(choice->coverage(), 1);
  EXPECT_EQ(choice->collection, 0U);
  EXPECT_LE(choice->time, seconds(60));
}

TEST(CounterBudget, CollectsLessIfThatCoversClearlyMore) {
  std::vector<std::int64_t> times(100, 1'000);
  std::vector<std::uint32_t> launches;
  for (std::uint32_t i = 0; i < 100; ++i) launches.push_back(i);
  const Census census = census_of(std::move(times), std::move(launches));
  const auto tight = choose(census, kCollections, {}, seconds(40));
  ASSERT_TRUE(tight);
  EXPECT_EQ(tight->collection, 1U);
  EXPECT_NEAR(tight->coverage(), 0.93, 0.05);
  const auto enough = choose(census, kCollections, {}, seconds(120));
  ASSERT_TRUE(enough);
  EXPECT_EQ(enough->collection, 0U);
  EXPECT_GE(enough->coverage(), 0.99);
}

TEST(CounterBudget, CountsNoMoreLaunchesThanAllowed) {
  const Census census = census_of({40, 30, 20, 10}, {0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3});
  const auto choice = choose(census, kCollections, {}, seconds(60), 2);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->count, 2U);
  EXPECT_EQ(choice->covered_ns, 70);
}

TEST(CounterBudget, IsNothingIfNotEvenOneLaunchFits) {
  const Census census = census_of({10}, {0, 0});
  EXPECT_FALSE(choose(census, kCollections, {.program = seconds(30)}, seconds(20)));
  EXPECT_FALSE(choose(census_of({10}, {}), kCollections, {}, seconds(60)));
  EXPECT_FALSE(choose(census_of({}, {}), kCollections, {}, seconds(60)));
  EXPECT_EQ(affordable({.program = seconds(30)}, 18, seconds(20)), 0U);
}

TEST(CounterBudget, ExpectsWhatWasMeasured) {
  // 12 launches of 18 passes on an H200, 2026-11-18: 14.2 s with a program that took 4.8 s until
  // then and was ended after them; no tables.
  const auto time = expected_time({.program = milliseconds(4'800)}, 18, 12);
  EXPECT_NEAR(std::chrono::duration<double>(time).count(), 14.2 + 2.5, 2.5);
  const std::vector<std::string> sections = {"SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy",
                                             "SchedulerStats"};
  EXPECT_EQ(expected_passes("roofline", sections, 5), 18U);
}

TEST(CounterBudget, CoversTheRecordedFastDecodeWithOneToken) {
  const auto capture =
      nsys::read_sqlite(testing::source_dir() / "docs/examples/h200/nsys/run.sqlite");
  ASSERT_TRUE(capture) << capture.error().to_string();
  // The middle eight tokens of the eager engine: 399 launches each, 12 layers and a head.
  const Census census = take_census(*capture, "decode");
  EXPECT_GT(census.launches.size(), 8U * 399 - 50);
  const auto choice =
      choose(census, {kCollections.data(), 1}, {.program = seconds(8)}, seconds(120));
  ASSERT_TRUE(choice);
  EXPECT_GE(choice->coverage(), 0.99) << "decode is all there is";
  EXPECT_LT(choice->count, 60U) << "the last layer, the head, and the first of the next token";
  EXPECT_EQ(take_census(*capture, "no such range").launches.size(), 0U);
}

}  // namespace
}  // namespace profline::counter_budget
