#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/timeline/accounting.h"
#include "analysis/timeline/internal/placement.h"
#include "records/timeline.h"

namespace profline::timeline::internal {

/// A stretch of time to account for: a range, or several that overlap.
struct Window {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// Called when a window closes, with where the time between its beginning and end went, a device
/// each.
using WindowClosed = std::function<void(std::size_t window, std::span<const DeviceTime> time)>;

/// Where the time of each device went, in one pass over all events in order of time. The sum over
/// any window is a difference of two running sums, so that windows cost no more than their two
/// ends, however they nest.
std::vector<DeviceTime> sweep_devices(const Timeline& timeline, const Placement& placement,
                                      std::span<const Window> windows,
                                      const WindowClosed& window_closed);

/// Where threads are inside the ranges that a pattern names. Ranges that overlap on a thread are
/// one window, so that nothing in them counts twice.
class Focus {
 public:
  Focus(const Timeline& timeline, std::string_view pattern);

  std::uint64_t instances() const { return instances_; }  ///< ranges that the pattern names
  std::uint64_t still_open() const { return still_open_; }
  const std::vector<Window>& windows() const { return windows_; }
  /// The window that a thread is in at an instant, in windows(); nothing where it is in none.
  std::optional<std::size_t> find(RowIndex thread, std::int64_t when_ns) const;

 private:
  void add(const Range& range);

  std::vector<Window> windows_;
  std::vector<std::vector<std::size_t>> by_thread_;  // of windows_, in order of time
  std::uint64_t instances_ = 0;
  std::uint64_t still_open_ = 0;
};

}  // namespace profline::timeline::internal
