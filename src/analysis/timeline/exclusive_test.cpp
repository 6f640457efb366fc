#include "analysis/timeline/exclusive.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/timeline/accounting.h"
#include "analysis/timeline/group_kernels.h"
#include "base/files.h"
#include "testing/captures/timeline_builder.h"
#include "testing/captures/zoo.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/torch_profiler/trace.h"

namespace profline::timeline {
namespace {

using testing::random_timeline;
using testing::TimelineBuilder;

using ::testing::ElementsAre;

std::int64_t busy_ns(const Accounting& accounts, std::int32_t device) {
  const auto found = std::find(accounts.devices.begin(), accounts.devices.end(), device);
  if (found == accounts.devices.end()) return 0;
  return accounts.time[static_cast<std::size_t>(found - accounts.devices.begin())].busy_ns();
}

/// Each device's exclusive times sum to its busy time.
void expect_whole(const Timeline& timeline) {
  const Accounting accounts = account(timeline, Attribution::of(timeline));
  const std::vector<ExclusiveTime> times = exclusive_times(timeline);
  ASSERT_EQ(times.size(), timeline.work.size());
  std::map<std::int32_t, std::int64_t> sums;
  std::int64_t kernels_ns = 0;
  for (std::size_t row = 0; row < times.size(); ++row) {
    const DeviceWork& work = timeline.work[row];
    EXPECT_GE(times[row].shared_ns, 0);
    EXPECT_LE(times[row].exclusive_ns(), work.duration_ns());
    if (work.stream != kNoRow) {
      sums[timeline.streams[work.stream].device] += times[row].exclusive_ns();
    } else {
      EXPECT_EQ(times[row], ExclusiveTime());
    }
    if (work.kind == WorkKind::Kernel) kernels_ns += times[row].exclusive_ns();
  }
  for (const auto& [device, sum_ns] : sums) EXPECT_EQ(sum_ns, busy_ns(accounts, device));
  EXPECT_EQ(group_kernels(timeline, {.ranges = true}).exclusive_ns, kernels_ns);
}

TEST(ExclusiveTime, OfAKernelThatWasLaunchedEarlyBeginsWhenTheOneAheadOfItEnds) {
  TimelineBuilder builder;
  const RowIndex stream = builder.stream(0, 7);
  builder.work({0, 100, stream, 0, "gemm"});
  builder.work({40, 103, stream, 0, "choose"});  // waits until 100
  builder.work({90, 180, stream, 0, "next"});    // waits until 103
  const Timeline timeline = builder.build();
  EXPECT_THAT(exclusive_times(timeline),
              ElementsAre(ExclusiveTime{40, 60}, ExclusiveTime{0, 3}, ExclusiveTime{77, 0}));
  expect_whole(timeline);
  const KernelUses uses = group_kernels(timeline);
  EXPECT_TRUE(uses.ranking().by_exclusive) << "253 ns of kernels in 180 ns";
  ASSERT_EQ(uses.rows.size(), 3U);
  EXPECT_EQ(uses.rows[0].name, "gemm");
  EXPECT_EQ(uses.rows[1].name, "next");
  EXPECT_EQ(uses.rows[2].name, "choose");
  EXPECT_DOUBLE_EQ(uses.share(uses.rows[2]), 100 * 3.0 / 180);
  EXPECT_EQ(uses.rows[0].alone_ns, 40);
}

TEST(ExclusiveTime, IsSharedEquallyBetweenStreams) {
  TimelineBuilder builder;
  const RowIndex first = builder.stream(0, 7);
  const RowIndex second = builder.stream(0, 8);
  const RowIndex elsewhere = builder.stream(1, 7);
  builder.work({0, 20, first}).work({5, 12, second, 0, "copy", WorkKind::Copy});
  builder.work({2, 9, elsewhere}).work({3, 3, elsewhere}).work({10, 15, kNoRow});
  const Timeline timeline = builder.build();
  // 7 ns are shared: 4 to the stream that was busy first and 3 to the other.
  EXPECT_THAT(exclusive_times(timeline),
              ElementsAre(ExclusiveTime{13, 4}, ExclusiveTime{7, 0}, ExclusiveTime{},
                          ExclusiveTime{0, 3}, ExclusiveTime{}));
  expect_whole(timeline);
}

TEST(ExclusiveTime, OfKernelsThatHardlyOverlapDoesNotRankThem) {
  TimelineBuilder builder;
  const RowIndex stream = builder.stream(0, 7);
  builder.work({0, 100, stream, 0, "a"}).work({98, 200, stream, 0, "b"});
  const KernelUses uses = group_kernels(builder.build());
  EXPECT_FALSE(uses.ranking().by_exclusive);
  EXPECT_EQ(uses.rows[0].name, "b") << "the longer one, though it has less exclusive time";
  EXPECT_EQ(uses.rows[0].exclusive_ns, 100);
}

TEST(ExclusiveTime, OfRandomWorkSumsToBusyTime) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    expect_whole(random_timeline(seed));
  }
}

/// The definition, instant by instant.
std::vector<ExclusiveTime> by_instant(const Timeline& timeline) {
  std::vector<ExclusiveTime> times(timeline.work.size());
  for (std::int64_t now = timeline.begin_ns; now < timeline.end_ns; ++now) {
    std::map<std::int32_t, std::vector<RowIndex>> running;
    for (RowIndex row = 0; row < timeline.work.size(); ++row) {
      const DeviceWork& work = timeline.work[row];
      if (work.stream == kNoRow || work.start_ns > now || work.end_ns <= now) continue;
      running[timeline.streams[work.stream].device].push_back(row);
    }
    for (const auto& [device, rows] : running) {
      if (rows.size() == 1) ++times[rows.front()].alone_ns;
    }
  }
  return times;
}

TEST(ExclusiveTime, AloneIsWhereNothingElseRan) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Timeline timeline = random_timeline(seed);
    const std::vector<ExclusiveTime> expected = by_instant(timeline);
    const std::vector<ExclusiveTime> times = exclusive_times(timeline);
    for (std::size_t row = 0; row < times.size(); ++row) {
      EXPECT_EQ(times[row].alone_ns, expected[row].alone_ns) << row;
    }
  }
}

/// Any capture; `.sqlite.gz` is unpacked first.
Result<Timeline> read_any(const std::filesystem::path& file) {
  if (file.extension() == ".sqlite") return nsys::read_sqlite(file);
  if (file.stem().extension() == ".sqlite") {
    const testing::TempDir folder;
    const auto unpacked = folder.path() / "capture.sqlite";
    PL_TRY(write_file_atomic(unpacked, PL_TRY(testing::unzipped(file))));
    return nsys::read_sqlite(unpacked);
  }
  return torch_profiler::read_trace(file);
}

TEST(ExclusiveTime, RanksKernelsOfTheFastEngineByWhatTheyCost) {
  const Result<Timeline> timeline =
      read_any(testing::source_dir() / "tests/golden/nsys/2025.3-fast-decode/input.sqlite.gz");
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  const KernelUses uses = group_kernels(*timeline, {}, {.inside = "decode"});
  EXPECT_TRUE(uses.ranking().by_exclusive);
  EXPECT_NEAR(static_cast<double>(uses.total_ns) / static_cast<double>(uses.exclusive_ns), 2.69,
              0.01);
  std::map<std::string, double> shares;
  for (const KernelUse& row : uses.rows) shares[row.short_name] = uses.share(row);
  ASSERT_EQ(shares.size(), 7U);
  // 9.2 % of the durations: it is launched early and waits for decode_head.
  EXPECT_NEAR(shares["decode_choose"], 0.57, 0.01);
  EXPECT_NEAR(shares["decode_gate_up"], 35.5, 0.1);
  EXPECT_NEAR(shares["decode_head"], 23.5, 0.1);
  EXPECT_EQ(uses.rows.front().short_name, "decode_gate_up");
}

TEST(ExclusiveTime, SumsToBusyTimeOnEveryRecordedCapture) {
  std::size_t captures = 0;
  for (const char* const folder : {"tests/golden", "docs/examples"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(testing::source_dir() / folder)) {
      const std::string name = entry.path().filename().string();
      const bool is_trace = name == "trace.json.gz" || name.starts_with("kineto");
      const bool is_capture = name.ends_with(".sqlite") || name.ends_with(".sqlite.gz") ||
                              (is_trace && name.ends_with(".json.gz"));
      if (!is_capture) continue;
      SCOPED_TRACE(entry.path());
      const Result<Timeline> timeline = read_any(entry.path());
      ASSERT_TRUE(timeline) << timeline.error().to_string();
      expect_whole(*timeline);
      ++captures;
    }
  }
  EXPECT_GE(captures, 8U);
}

}  // namespace
}  // namespace profline::timeline
