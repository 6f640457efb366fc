#include "testing/captures/timeline_builder.h"

#include <algorithm>
#include <random>

namespace profline::testing {

TimelineBuilder& TimelineBuilder::window(std::int64_t begin_ns, std::int64_t end_ns) {
  timeline_.begin_ns = begin_ns;
  timeline_.end_ns = end_ns;
  return *this;
}

RowIndex TimelineBuilder::thread(std::int64_t process, std::int64_t tid) {
  timeline_.threads.push_back({process, tid, 0});
  return static_cast<RowIndex>(timeline_.threads.size() - 1);
}

RowIndex TimelineBuilder::stream(std::int32_t device, std::int64_t stream) {
  timeline_.streams.push_back({device, 1, stream});
  return static_cast<RowIndex>(timeline_.streams.size() - 1);
}

std::uint64_t TimelineBuilder::call(const Call& call) {
  HostCall row{.start_ns = call.start_ns, .end_ns = call.end_ns};
  row.correlation = timeline_.calls.size() + 1;
  row.thread = call.thread;
  row.kind = call.kind;
  timeline_.calls.push_back(row);
  return row.correlation;
}

TimelineBuilder& TimelineBuilder::work(const Work& work) {
  DeviceWork row{.start_ns = work.start_ns, .end_ns = work.end_ns};
  row.name = timeline_.names.id_of(work.name);
  row.stream = work.stream;
  row.kind = work.kind;
  row.bytes = work.launch;  // until calls are sorted
  timeline_.work.push_back(row);
  return *this;
}

TimelineBuilder& TimelineBuilder::range(const Open& range) {
  Range row{.start_ns = range.start_ns, .end_ns = range.end_ns};
  row.name = timeline_.names.id_of(range.name);
  row.thread = range.thread;
  row.end_thread = range.thread;
  row.kind = range.kind;
  timeline_.ranges.push_back(row);
  return *this;
}

Timeline TimelineBuilder::build() {
  std::stable_sort(timeline_.calls.begin(), timeline_.calls.end(),
                   [](const HostCall& a, const HostCall& b) { return a.start_ns < b.start_ns; });
  std::vector<RowIndex> row_of(timeline_.calls.size() + 1, kNoRow);
  for (RowIndex row = 0; row < timeline_.calls.size(); ++row) {
    row_of[timeline_.calls[row].correlation] = row;
  }
  for (DeviceWork& work : timeline_.work) {
    work.launch = row_of[work.bytes];
    work.bytes = 0;
  }
  std::stable_sort(
      timeline_.work.begin(), timeline_.work.end(),
      [](const DeviceWork& a, const DeviceWork& b) { return a.start_ns < b.start_ns; });
  std::stable_sort(timeline_.ranges.begin(), timeline_.ranges.end(),
                   [](const Range& a, const Range& b) { return a.start_ns < b.start_ns; });
  return std::move(timeline_);
}

Timeline random_timeline(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto below = [&](std::uint64_t limit) {
    return static_cast<std::int64_t>(engine() % limit);
  };
  TimelineBuilder builder;
  builder.window(-5, 125);
  builder.thread(1, 1);
  builder.thread(1, 2);
  builder.thread(2, 1);
  const auto thread = [&] { return static_cast<RowIndex>(below(3)); };
  builder.stream(0, 7);
  builder.stream(0, 8);
  builder.stream(3, 7);
  constexpr CallKind kKinds[] = {CallKind::Launch,      CallKind::Launch, CallKind::GraphLaunch,
                                 CallKind::Copy,        CallKind::Fill,   CallKind::Synchronize,
                                 CallKind::Synchronize, CallKind::Memory, CallKind::Other};
  const auto calls = below(14);
  for (std::int64_t call = 0; call < calls; ++call) {
    const std::int64_t start = below(100);
    builder.call({start, start + below(12), thread(), kKinds[below(std::size(kKinds))]});
  }
  constexpr std::string_view kNames[] = {"gemm", "ncclAllReduce", "softmax"};
  constexpr WorkKind kWorkKinds[] = {WorkKind::Kernel, WorkKind::Kernel, WorkKind::Copy,
                                     WorkKind::Fill, WorkKind::Graph};
  const auto works = below(16);
  for (std::int64_t work = 0; work < works; ++work) {
    const std::int64_t start = below(108) - 5;
    const auto stream = below(20) == 0 ? kNoRow : static_cast<RowIndex>(below(3));
    const auto launch = static_cast<std::uint64_t>(below(static_cast<std::uint64_t>(calls) + 1));
    builder.work({start, start + below(17), stream, launch, kNames[below(3)],
                  kWorkKinds[below(std::size(kWorkKinds))]});
  }
  constexpr std::string_view kRanges[] = {"decode", "decode_step", "layer"};
  const auto ranges = below(10);
  for (std::int64_t range = 0; range < ranges; ++range) {
    const std::int64_t start = below(90);
    const RangeKind kind = below(3) == 0 ? RangeKind::StartEnd : RangeKind::PushPop;
    builder.range({start, start + below(35), kRanges[below(3)], thread(), kind});
  }
  return builder.build();
}

}  // namespace profline::testing
