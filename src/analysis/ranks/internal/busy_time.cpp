#include "analysis/ranks/internal/busy_time.h"

#include <algorithm>

namespace profline::ranks::internal {
namespace {

/// Both sets together, united.
Intervals either(const Intervals& a, const Intervals& b) {
  Intervals all;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all),
             [](const Interval& x, const Interval& y) { return x.start_ns < y.start_ns; });
  unite(all);
  return all;
}

}  // namespace

void unite(Intervals& intervals) {
  const auto earlier = [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), earlier)) {
    std::sort(intervals.begin(), intervals.end(), earlier);
  }
  std::size_t kept = 0;
  for (const Interval& interval : intervals) {
    if (interval.end_ns <= interval.start_ns) continue;
    if (kept > 0 && interval.start_ns <= intervals[kept - 1].end_ns) {
      intervals[kept - 1].end_ns = std::max(intervals[kept - 1].end_ns, interval.end_ns);
    } else {
      intervals[kept++] = interval;
    }
  }
  intervals.resize(kept);
}

std::int64_t length_ns(const Intervals& intervals) {
  std::int64_t length = 0;
  for (const Interval& interval : intervals) length += interval.end_ns - interval.start_ns;
  return length;
}

Intervals common(const Intervals& a, const Intervals& windows) {
  Intervals both;
  auto at = a.begin();
  for (const Interval& window : windows) {
    at = std::partition_point(
        at, a.end(), [&](const Interval& interval) { return interval.end_ns <= window.start_ns; });
    for (auto next = at; next != a.end() && next->start_ns < window.end_ns; ++next) {
      both.push_back(
          {std::max(next->start_ns, window.start_ns), std::min(next->end_ns, window.end_ns)});
    }
  }
  return both;
}

void Activity::unite() {
  for (auto& [number, device] : devices_) {
    internal::unite(device.compute);
    internal::unite(device.communication);
    internal::unite(device.copies);
  }
}

RankTime Activity::time_in(const Intervals& windows) const {
  RankTime time;
  const std::int64_t wall_ns = length_ns(windows);
  if (devices_.empty()) {
    time.wall_ns = wall_ns;
    time.idle_ns = wall_ns;
  }
  for (const auto& [number, device] : devices_) {
    const Intervals compute = common(device.compute, windows);
    const Intervals communication = common(device.communication, windows);
    const Intervals kernels = either(compute, communication);
    const Intervals busy = either(kernels, common(device.copies, windows));
    RankTime own;
    own.wall_ns = wall_ns;
    own.compute_ns = length_ns(compute);
    own.exposed_ns = length_ns(kernels) - own.compute_ns;
    own.overlapped_ns = length_ns(communication) - own.exposed_ns;
    own.copy_ns = length_ns(busy) - length_ns(kernels);
    own.idle_ns = wall_ns - length_ns(busy);
    time += own;
  }
  return time;
}

}  // namespace profline::ranks::internal
