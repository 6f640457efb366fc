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

/// A period to account for: a range, or several that overlap.
struct Window {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// Called when a window closes, with where the time inside it went, per device.
using WindowClosed = std::function<void(std::size_t window, std::span<const DeviceTime> time)>;

/// Where the time of each device went, in one pass over all events in time order. The sum over any
/// window is a difference of two running sums, so a window costs no more than its two ends, however
/// windows nest.
std::vector<DeviceTime> sweep_devices(const Timeline& timeline, const Placement& placement,
                                      std::span<const Window> windows,
                                      const WindowClosed& window_closed);

/// The periods in which threads are inside ranges that match a pattern. Ranges that overlap on a
/// thread are one window, so that nothing counts twice.
class Focus {
 public:
  Focus(const Timeline& timeline, std::string_view pattern);

  std::uint64_t instances() const { return instances_; }  ///< ranges that match the pattern
  std::uint64_t still_open() const { return still_open_; }
  const std::vector<Window>& windows() const { return windows_; }
  /// The index in windows() of the window that a thread is in at an instant; nothing if it is in
  /// none.
  std::optional<std::size_t> find(RowIndex thread, std::int64_t when_ns) const;

 private:
  void add(const Range& range);

  std::vector<Window> windows_;
  std::vector<std::vector<std::size_t>> by_thread_;  // indices of windows_, in time order
  std::uint64_t instances_ = 0;
  std::uint64_t still_open_ = 0;
};

}  // namespace profline::timeline::internal
