#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/timeline/accounting.h"
#include "analysis/timeline/internal/placement.h"

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

}  // namespace profline::timeline::internal
