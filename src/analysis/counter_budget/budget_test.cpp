#include "analysis/counter_budget/budget.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "records/kernel_use.h"
#include "records/range_use.h"
#include "testing/captures/timeline_builder.h"
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

/// One request per kernel, which launches it inside `decode`.
Timeline requests_of(const std::vector<std::string_view>& kernels) {
  testing::TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(0, 7);
  std::int64_t now_ns = 0;
  for (const std::string_view kernel : kernels) {
    builder.range({now_ns, now_ns + 10, "decode", thread});
    const std::uint64_t launch = builder.call({now_ns + 1, now_ns + 2, thread});
    builder.work({now_ns + 3, now_ns + 8, stream, launch, kernel});
    now_ns += 10;
  }
  return builder.build();
}

TEST(CounterBudget, CountsOnlyLaunchesThatNcuWillSee) {
  const Timeline timeline = requests_of({"a", "b", "c", "c"});
  EXPECT_EQ(gate_instances(timeline, "decode"), 4U);
  EXPECT_EQ(gate_instances(timeline, "prefill"), 0U);
  EXPECT_EQ(take_census(timeline, "decode").launches.size(), 4U);
  EXPECT_EQ(take_census(timeline, "prefill").launches.size(), 0U);
  const Census census = take_census(timeline, "decode", 2);
  EXPECT_EQ(census.launches.size(), 2U) << "ncu runs two of the requests";
  EXPECT_EQ(census.exclusive_ns(), 20) << "coverage is still of everything";
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

TEST(CounterBudget, ExpectsWhatTheRecordedStageTook) {
  // docs/examples/h200: 80 launches of 27 passes in a program of 36,827 launches that takes 6.66 s
  // without ncu; listing sections, counting and the two exports took 83.4 s together.
  const auto time = expected_time({milliseconds(6'660), 36'827}, 27, 80);
  const double actual_s = 0.48 + 74.00 + 3.03 + 5.83;
  EXPECT_NEAR(std::chrono::duration<double>(time).count(), actual_s, 0.25 * actual_s);
}

/// The middle eight tokens of the recorded run of the eager engine.
Census recorded_decode() {
  const auto capture =
      nsys::read_sqlite(testing::source_dir() / "docs/examples/h200/nsys/run.sqlite");
  EXPECT_TRUE(capture) << capture.error().to_string();
  return capture ? take_census(*capture, "decode") : Census();
}

TEST(CounterBudget, CoversTheRecordedEagerDecodeWithOneToken) {
  // 399 launches per token: 12 layers and a head.
  const Census census = recorded_decode();
  EXPECT_GT(census.launches.size(), 8U * 399 - 50);
  const auto choice =
      choose(census, {kCollections.data(), 1}, {.program = seconds(8)}, seconds(120));
  ASSERT_TRUE(choice);
  EXPECT_GE(choice->coverage(), 0.99) << "decode is all there is";
  EXPECT_LT(choice->count, 60U) << "the last layer, the head, and the first of the next token";
}

TEST(CounterBudget, CoversNineTenthsOfTheRecordedRunInTwoMinutes) {
  const auto path = testing::source_dir() / "docs/examples/h200/nsys/kernels.json";
  const auto table = from_document<NsysKernels>(read_file(path).value_or(""), path.string());
  ASSERT_TRUE(table) << table.error().to_string();
  // The launches of decode in the order of the capture, with the times of the whole run: the
  // capture that is kept holds a few tokens only.
  Census census = recorded_decode();
  for (Kernel& kernel : census.kernels) kernel.exclusive_ns = 0;
  for (const KernelUse& use : table->kernels) {
    if (use.ranges.empty() || use.ranges.front() == kWarmUpRange) continue;
    const auto known =
        std::find_if(census.kernels.begin(), census.kernels.end(), [&](const Kernel& kernel) {
          return kernel.name == use.name && kernel.grid == use.grid && kernel.block == use.block;
        });
    if (known != census.kernels.end()) {
      known->exclusive_ns += use.total_ns;
    } else {
      census.kernels.push_back({.name = use.name,
                                .printed_name = use.printed_name,
                                .grid = use.grid,
                                .block = use.block,
                                .exclusive_ns = use.total_ns});
    }
  }
  for (const std::uint32_t passes : {18U, 27U}) {
    SCOPED_TRACE(passes);
    const std::vector<Collection> collections = {{"all sections", passes}};
    const auto choice = choose(census, collections, {milliseconds(6'660), 36'827}, seconds(120));
    ASSERT_TRUE(choice);
    EXPECT_GE(choice->coverage(), 0.9);
    EXPECT_NEAR(static_cast<double>(choice->reachable_ns) / static_cast<double>(choice->all_ns),
                0.935, 0.005);
    EXPECT_LE(choice->time, seconds(120));
  }
}

}  // namespace
}  // namespace profline::counter_budget
