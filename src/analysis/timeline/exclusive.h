#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "records/timeline.h"

namespace profline::timeline {

/// A piece of work's part of the time in which its device was busy.
struct ExclusiveTime {
  std::int64_t alone_ns = 0;   ///< nothing else ran on the device
  std::int64_t shared_ns = 0;  ///< its share of the time in which it overlapped other work

  std::int64_t exclusive_ns() const { return alone_ns + shared_ns; }
  ExclusiveTime& operator+=(const ExclusiveTime& more) {
    alone_ns += more.alone_ns;
    shared_ns += more.shared_ns;
    return *this;
  }
  bool operator==(const ExclusiveTime&) const = default;
};

/// For each row of Timeline::work, in order. Over the work of a device they sum to the time in
/// which it was busy, to the nanosecond; work whose device is not known gets nothing.
///
/// Time in which several pieces of work ran is shared equally between their streams. Within a
/// stream it belongs to the one that began first: another can run at the same time only because it
/// was launched early (programmatic dependent launch), and then it waits for the first one.
///
/// O(n log n + n * streams active at a time).
std::vector<ExclusiveTime> exclusive_times(const Timeline& timeline);

/// The same for sums over many rows, which need no time per row: calls `add(row, time)` for every
/// stretch of time that a row of Timeline::work gets.
void exclusive_times(const Timeline& timeline,
                     const std::function<void(RowIndex row, const ExclusiveTime& time)>& add);

}  // namespace profline::timeline
