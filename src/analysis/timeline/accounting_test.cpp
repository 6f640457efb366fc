#include "analysis/timeline/accounting.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/captures/timeline_builder.h"

namespace profline::timeline {
namespace {

using testing::random_timeline;
using testing::TimelineBuilder;

using ::testing::ElementsAre;

Accounting account_of(const Timeline& timeline, const AccountingOptions& options = {}) {
  return account(timeline, Attribution::of(timeline), options);
}

TEST(Accounting, PutsEachInstantOfADeviceDownToOneThing) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(0, 7);
  const RowIndex copies = builder.stream(0, 8);
  const auto first = builder.call({10, 20, thread});  // launching 10-20
  builder.work({25, 40, stream, first, "gemm"});      // queued 20-25, ran 25-40
  const auto copy = builder.call({28, 30, thread, CallKind::Copy});
  builder.work({35, 50, copies, copy, "copy", WorkKind::Copy});  // both 35-40, copy 40-50
  builder.call({45, 60, thread, CallKind::Synchronize});         // waiting 50-60
  builder.call({65, 70, thread, CallKind::Memory});              // between 60-65, allocating
  const auto collective = builder.call({80, 90, thread});        // between 70-80
  builder.work({85, 95, stream, collective, "ncclAllReduce"});   // launching 80-85
  const Timeline timeline = builder.window(0, 100).build();      // nothing 0-10, 95-100

  const Accounting result = account_of(
      timeline, {.is_collective = [](std::string_view name) { return name.starts_with("nccl"); }});
  ASSERT_THAT(result.devices, ElementsAre(0));
  const DeviceTime& time = result.time[0];
  EXPECT_THAT(time.ran_ns, ElementsAre(65, 10, 10, 5, 10, 0, 0, 0));
  EXPECT_EQ(time.idle_of(IdleCause::Queued), 5);
  EXPECT_EQ(time.idle_of(IdleCause::Launching), 15);
  EXPECT_EQ(time.idle_of(IdleCause::CopyWait), 0);
  EXPECT_EQ(time.idle_of(IdleCause::Synchronizing), 10);
  EXPECT_EQ(time.idle_of(IdleCause::Allocating), 5);
  EXPECT_EQ(time.idle_of(IdleCause::HostBetween), 5 + 10);
  EXPECT_EQ(time.idle_of(IdleCause::NothingQueued), 10 + 5);
  EXPECT_EQ(time.wall_ns(), 100);
  EXPECT_EQ(time.busy_ns(), 35);
  EXPECT_EQ(time.with_ns(kCompute), 15);
  EXPECT_EQ(time.with_ns(kCompute | kCopy), 5);
  EXPECT_EQ(time.with_ns(kCommunication), 10);
}

TEST(Accounting, OfARangeCoversItsWallTimeAndSeparatesItsOwnWorkFromOthers) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(0, 7);
  const auto before = builder.call({2, 4, thread});
  builder.work({5, 15, stream, before});  // runs into the range, was launched before it
  builder.range({10, 40, "decode", thread}).range({10, 25, "decode_step", thread});
  builder.range({25, 40, "decode_step", thread});
  const auto inside = builder.call({12, 14, thread});
  builder.work({20, 30, stream, inside});
  const auto late = builder.call({35, 37, thread});
  builder.work({38, 50, stream, late});  // runs out of the range
  const Timeline timeline = builder.window(0, 60).build();

  const Accounting result = account_of(timeline, {.instances_of = "decode_step"});
  ASSERT_EQ(result.ranges.size(), 2U);
  const RangeAccount& decode = result.ranges[0];
  EXPECT_EQ(timeline.names.text(decode.name), "decode");
  EXPECT_EQ(decode.wall_ns, 30);
  EXPECT_EQ(decode.time[0].wall_ns(), 30);
  EXPECT_EQ(decode.time[0].busy_ns(), 5 + 10 + 2);
  EXPECT_EQ(decode.own[0].inside_ns, 10 + 2);
  EXPECT_EQ(decode.own[0].busy_ns, 10 + 12);
  EXPECT_EQ(decode.own[0].outside_ns(), 10);
  EXPECT_EQ(decode.work, (WorkSum{2, 22}));
  EXPECT_EQ(decode.direct_work, (WorkSum{0, 0}));
  EXPECT_EQ(decode.tokens, 2U);
  EXPECT_EQ(decode.launches_per_token(), 1.0);
  EXPECT_EQ(decode.launch.gap.count, 1U);
  EXPECT_EQ(decode.launch.gap.sum_ns, 35 - 14);
  EXPECT_EQ(decode.launch.delay_from_start.sum_ns, 8 + 3);
  EXPECT_EQ(decode.launch.delay_from_end.sum_ns, 6 + 1);

  ASSERT_EQ(result.instances.size(), 2U);
  EXPECT_EQ(result.instances[0].range, 1U);
  EXPECT_EQ(result.instances[0].own[0], (OwnTime{10, 5}));
  EXPECT_EQ(result.instances[1].own[0], (OwnTime{12, 2}));
  EXPECT_EQ(result.instances[0].launch.gap.count, 0U) << "the launch before it was outside";

  EXPECT_EQ(result.outside_ranges, (WorkSum{1, 10}));
  EXPECT_EQ(result.without_launch, WorkSum());
  EXPECT_EQ(result.gap, (Quantiles{8, 21, 21}));
  EXPECT_EQ(result.delay, (Quantiles{3, 8, 8}));
}

TEST(Accounting, KnowsTheQuantilesOfGapsFarApart) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(0, 7);
  for (const std::int64_t start : {std::int64_t{0}, std::int64_t{15}, kHour}) {
    const auto call = builder.call({start, start + 10, thread});
    builder.work({start + 20, start + 30, stream, call, "gemm"});
  }
  const Accounting result = account_of(builder.window(0, kHour + 30).build());
  EXPECT_EQ(result.gap, (Quantiles{5, kHour - 25, kHour - 25}));
  EXPECT_EQ(result.delay, (Quantiles{20, 20, 20}));
}

TEST(Accounting, GivesTheSpanFromFirstToLastActivityOfEachDevice) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex first = builder.stream(0, 7);
  const RowIndex second = builder.stream(3, 7);
  builder.work({20, 60, first}).work({30, 40, first}).work({50, 55, first});
  builder.work({45, 90, second}).work({1, 2, kNoRow});
  builder.call({0, 100, thread, CallKind::Synchronize});
  const Accounting result = account_of(builder.window(0, 100).build());
  EXPECT_THAT(result.active, ElementsAre(ActiveSpan{20, 60}, ActiveSpan{45, 90}));
  EXPECT_EQ(result.time[0].busy_ns(), 40);
  EXPECT_EQ(result.active_of_all(), (ActiveSpan{20, 90}));
  EXPECT_EQ(account_of(Timeline()).active_of_all(), ActiveSpan());
}

TEST(Accounting, SharesABusyRangeOfSeveralDevicesOutAsAMean) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  builder.work({0, 100, builder.stream(0, 7)}).work({0, 90, builder.stream(1, 7)});
  builder.range({0, 100, "decode", thread}).range({50, 50, "nothing", thread});
  const Accounting result = account_of(builder.window(0, 100).build());
  EXPECT_DOUBLE_EQ(result.ranges[0].busy_share().value(), 0.95);
  EXPECT_EQ(result.ranges[1].busy_share(), std::nullopt) << "it lasted no time";
  EXPECT_EQ(RangeAccount().busy_share(), std::nullopt) << "there is no device";
}

TEST(Accounting, MakesOneRowOfRangesThatPyTorchNumbers) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  builder.range({0, 40, "ProfilerStep#1", thread}).range({40, 90, "ProfilerStep#2", thread});
  builder.range({1, 2, "aten::to, op_id = 7", thread}).range({3, 5, "aten::to, op_id = 9", thread});
  builder.range({6, 7, "aten::to, op_id = 9", thread});
  const Timeline timeline = builder.window(0, 100).build();
  const Accounting result = account_of(timeline);
  ASSERT_EQ(result.ranges.size(), 2U);
  EXPECT_EQ(result.ranges[0].label, "ProfilerStep#*");
  EXPECT_EQ(result.ranges[0].instances, 2U);
  EXPECT_EQ(result.ranges[0].names, 2U);
  EXPECT_EQ(result.ranges[0].wall_ns, 90);
  EXPECT_EQ(result.ranges[1].label, "aten::to");
  EXPECT_EQ(result.ranges[1].instances, 3U);
  EXPECT_EQ(result.ranges[1].names, 2U);
  EXPECT_EQ(result.ranges[1].wall_ns, 4);
}

TEST(Accounting, CountsWhatOverlappingRangesOfAFocusHoldOnce) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(0, 7);
  builder.range({10, 40, "decode", thread}).range({12, 25, "decode_step", thread});
  builder.range({30, 60, "decode_late", thread, RangeKind::StartEnd});
  builder.range({70, 80, "decode", thread}).range({90, 95, "other", thread});
  builder.work({15, 30, stream, builder.call({13, 14, thread})});
  builder.work({45, 65, stream, builder.call({42, 43, thread})});  // launched in decode_late alone
  builder.work({75, 78, stream, builder.call({72, 73, thread})});
  builder.work({92, 94, stream, builder.call({91, 92, thread})});
  const Timeline timeline = builder.window(0, 100).build();
  const Accounting result = account_of(timeline, {.focus = "decode*"});
  ASSERT_TRUE(result.focus);
  const RangeAccount& focus = *result.focus;
  EXPECT_EQ(focus.label, "decode*");
  EXPECT_EQ(focus.instances, 4U);
  EXPECT_EQ(focus.wall_ns, 50 + 10);
  EXPECT_EQ(focus.time[0].wall_ns(), 60);
  EXPECT_EQ(focus.time[0].busy_ns(), 15 + 15 + 3);
  EXPECT_EQ(focus.own[0], (OwnTime{15 + 20 + 3, 15 + 15 + 3}));
  EXPECT_EQ(focus.work, (WorkSum{3, 15 + 20 + 3}));
  EXPECT_EQ(focus.launch.launches, 3U);
  EXPECT_EQ(focus.launch.gap.count, 1U) << "the third launch is in another window";
  EXPECT_EQ(focus.tokens, 1U);
  EXPECT_EQ(account_of(timeline, {.focus = "prefill"}).focus, std::nullopt);
}

/// A focus on one name whose instances do not overlap is the row of that name.
TEST(Accounting, OfAFocusEqualsTheRowOfItsRange) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Timeline timeline = random_timeline(seed);
    timeline.ranges.resize(std::min<std::size_t>(timeline.ranges.size(), 1));
    if (timeline.ranges.empty()) continue;
    const std::string name = timeline.names.text(timeline.ranges[0].name);
    const Accounting result = account_of(timeline, {.focus = name});
    ASSERT_TRUE(result.focus) << seed;
    const RangeAccount& row = result.ranges.front();
    EXPECT_EQ(result.focus->wall_ns, row.wall_ns) << seed;
    EXPECT_EQ(result.focus->time, row.time) << seed;
    EXPECT_EQ(result.focus->own, row.own) << seed;
    EXPECT_EQ(result.focus->work, row.work) << seed;
    EXPECT_EQ(result.focus->launch, row.launch) << seed;
  }
}

TEST(Accounting, NamesWhatItCannotPlace) {
  TimelineBuilder builder;
  const RowIndex thread = builder.thread(1, 1);
  const RowIndex stream = builder.stream(2, 7);
  builder.call({1, 2, thread});  // nothing came of it
  builder.work({5, 9, stream, 0}).work({5, 6, kNoRow, 0});
  const Timeline timeline = builder.window(0, 10).build();
  const Accounting result = account_of(timeline, {.tokens = 4});
  EXPECT_EQ(result.without_launch, (WorkSum{2, 5}));
  EXPECT_EQ(result.without_device, (WorkSum{1, 1}));
  EXPECT_EQ(result.launches_without_work, 1U);
  EXPECT_EQ(result.launches_per_token(), 0.25);
  EXPECT_THAT(result.devices, ElementsAre(2));
}

TEST(Accounting, HoldsForAnEmptyCapture) {
  const Accounting result = account_of(Timeline());
  EXPECT_EQ(result.wall_ns(), 0);
  EXPECT_TRUE(result.time.empty());
  EXPECT_EQ(result.launches_per_token(), std::nullopt);
}

// ---- The oracle: every definition of accounting.h, read out instant by instant. ----

struct Oracle {
  const Timeline& timeline;

  bool launches(const HostCall& call) const {
    return call.kind == CallKind::Launch || call.kind == CallKind::GraphLaunch ||
           call.kind == CallKind::Copy || call.kind == CallKind::Fill;
  }
  std::optional<std::int32_t> device_of(const DeviceWork& work) const {
    if (work.stream == kNoRow) return std::nullopt;
    return timeline.streams[work.stream].device;
  }
  std::optional<std::int32_t> own_device(RowIndex call) const {
    for (const DeviceWork& work : timeline.work) {
      if (work.launch == call && device_of(work)) return device_of(work);
    }
    return std::nullopt;
  }
  std::optional<std::int32_t> device_of_call(RowIndex call) const {
    const RowIndex thread = timeline.calls[call].thread;
    for (RowIndex earlier = call + 1; earlier-- > 0;) {
      if (timeline.calls[earlier].thread == thread && own_device(earlier)) {
        return own_device(earlier);
      }
    }
    for (RowIndex later = call; later < timeline.calls.size(); ++later) {
      if (timeline.calls[later].thread == thread && own_device(later)) return own_device(later);
    }
    return only_device(timeline.threads[thread].process);
  }
  std::optional<std::int32_t> only_device(std::int64_t process) const {
    std::optional<std::int32_t> only;
    for (RowIndex call = 0; call < timeline.calls.size(); ++call) {
      const auto device = own_device(call);
      if (timeline.threads[timeline.calls[call].thread].process != process || !device) continue;
      if (only && *only != *device) return std::nullopt;
      only = device;
    }
    return only;
  }

  static bool at(std::int64_t start_ns, std::int64_t end_ns, std::int64_t now) {
    return start_ns <= now && now < end_ns;
  }

  unsigned kinds(std::int32_t device, std::int64_t now) const {
    unsigned kinds = 0;
    for (const DeviceWork& work : timeline.work) {
      if (device_of(work) != device || !at(work.start_ns, work.end_ns, now)) continue;
      const bool copy = work.kind == WorkKind::Copy || work.kind == WorkKind::Fill;
      const bool collective =
          work.kind == WorkKind::Kernel && timeline.names.text(work.name).starts_with("nccl");
      kinds |= copy ? kCopy : collective ? kCommunication : kCompute;
    }
    return kinds;
  }

  bool is_queued(std::int32_t device, std::int64_t now) const {
    return std::any_of(timeline.work.begin(), timeline.work.end(), [&](const DeviceWork& work) {
      return work.launch != kNoRow && device_of(work) == device &&
             device_of_call(work.launch) == device &&
             at(timeline.calls[work.launch].end_ns, work.start_ns, now);
    });
  }
  bool is_inside(std::int32_t device, std::int64_t now, std::vector<CallKind> of) const {
    for (RowIndex row = 0; row < timeline.calls.size(); ++row) {
      const HostCall& call = timeline.calls[row];
      if (std::find(of.begin(), of.end(), call.kind) != of.end() &&
          at(call.start_ns, call.end_ns, now) && device_of_call(row) == device) {
        return true;
      }
    }
    return false;
  }
  bool is_between(std::int32_t device, std::int64_t now) const {
    for (RowIndex before = 0; before < timeline.calls.size(); ++before) {
      const HostCall& first = timeline.calls[before];
      if (!launches(first) || first.start_ns > now || device_of_call(before) != device) continue;
      for (RowIndex after = 0; after < timeline.calls.size(); ++after) {
        const HostCall& second = timeline.calls[after];
        if (launches(second) && second.thread == first.thread && second.start_ns > now &&
            device_of_call(after) == device) {
          return true;
        }
      }
    }
    return false;
  }
  IdleCause cause(std::int32_t device, std::int64_t now) const {
    if (is_queued(device, now)) return IdleCause::Queued;
    if (is_inside(device, now, {CallKind::Launch, CallKind::GraphLaunch})) {
      return IdleCause::Launching;
    }
    if (is_inside(device, now, {CallKind::Copy, CallKind::Fill})) return IdleCause::CopyWait;
    if (is_inside(device, now, {CallKind::Synchronize})) return IdleCause::Synchronizing;
    if (is_inside(device, now, {CallKind::Memory})) return IdleCause::Allocating;
    return is_between(device, now) ? IdleCause::HostBetween : IdleCause::NothingQueued;
  }
  DeviceTime instant(std::int32_t device, std::int64_t now) const {
    DeviceTime time;
    const unsigned ran = kinds(device, now);
    time.ran_ns[ran] = 1;
    if (ran == 0) time.idle_ns[static_cast<std::size_t>(cause(device, now))] = 1;
    return time;
  }
  bool is_own(RowIndex range, const DeviceWork& work) const {
    if (work.launch == kNoRow) return false;
    const Range& row = timeline.ranges[range];
    const HostCall& call = timeline.calls[work.launch];
    return call.thread == row.thread && at(row.start_ns, row.end_ns, call.start_ns);
  }
  OwnTime own(RowIndex range, std::int32_t device) const {
    OwnTime own;
    for (std::int64_t now = timeline.begin_ns; now < timeline.end_ns; ++now) {
      const bool busy =
          std::any_of(timeline.work.begin(), timeline.work.end(), [&](const DeviceWork& work) {
            return device_of(work) == device && at(work.start_ns, work.end_ns, now) &&
                   is_own(range, work);
          });
      const Range& row = timeline.ranges[range];
      if (busy) ++own.busy_ns;
      if (busy && at(row.start_ns, row.end_ns, now)) ++own.inside_ns;
    }
    return own;
  }
};

void expect_equals_oracle(const Timeline& timeline, const Accounting& result) {
  const Oracle oracle{timeline};
  for (std::size_t device = 0; device < result.devices.size(); ++device) {
    std::vector<DeviceTime> instants;
    DeviceTime whole;
    for (std::int64_t now = timeline.begin_ns; now < timeline.end_ns; ++now) {
      instants.push_back(oracle.instant(result.devices[device], now));
      whole += instants.back();
    }
    ASSERT_EQ(result.time[device], whole);
    ASSERT_EQ(result.time[device].wall_ns(), result.wall_ns());
    for (const RangeAccount& instance : result.instances) {
      const Range& range = timeline.ranges[instance.range];
      DeviceTime window;
      for (std::int64_t now = range.start_ns; now < range.end_ns; ++now) {
        window += instants[static_cast<std::size_t>(now - timeline.begin_ns)];
      }
      ASSERT_EQ(instance.time[device], window);
      ASSERT_EQ(instance.own[device], oracle.own(instance.range, result.devices[device]));
    }
  }
}

TEST(Accounting, EqualsTheDefinitionOnRandomTimelines) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    const Timeline timeline = random_timeline(seed);
    const Accounting result = account_of(
        timeline, {.is_collective = [](std::string_view name) { return name.starts_with("nccl"); },
                   .instances_of = "layer"});
    ASSERT_NO_FATAL_FAILURE(expect_equals_oracle(timeline, result));
  }
}

TEST(Accounting, IsTheSameOnTwoThreads) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const Timeline timeline = random_timeline(seed);
    AccountingOptions options{
        .is_collective = [](std::string_view name) { return name.starts_with("nccl"); },
        .instances_of = "layer",
        .focus = "*",
        .rows_for_threads = std::numeric_limits<std::size_t>::max()};
    const Accounting one = account_of(timeline, options);
    options.rows_for_threads = 0;
    ASSERT_TRUE(account_of(timeline, options) == one);
  }
}

void expect_closes(const Timeline& timeline, const Accounting& result) {
  WorkSum placed;
  for (const RangeAccount& range : result.ranges) {
    placed.count += range.direct_work.count;
    placed.sum_ns += range.direct_work.sum_ns;
    for (const DeviceTime& time : range.time) {
      ASSERT_EQ(time.wall_ns(), range.wall_ns);
      ASSERT_EQ(time.ran_ns[0],
                std::accumulate(time.idle_ns.begin(), time.idle_ns.end(), std::int64_t{0}));
    }
  }
  ASSERT_EQ(placed.count + result.outside_ranges.count + result.without_launch.count,
            timeline.work.size());
  ASSERT_EQ(placed.sum_ns + result.outside_ranges.sum_ns + result.without_launch.sum_ns,
            result.work.sum_ns);
}

TEST(Accounting, ClosesOnRandomTimelines) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const Timeline timeline = random_timeline(seed);
    ASSERT_NO_FATAL_FAILURE(expect_closes(timeline, account_of(timeline)));
  }
}

}  // namespace
}  // namespace profline::timeline
