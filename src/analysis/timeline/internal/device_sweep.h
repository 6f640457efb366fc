#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analysis/timeline/accounting.h"
#include "analysis/timeline/internal/placement.h"

namespace profline::timeline::internal {

/// Called when a range closes, with where the time between its beginning and end went, a device
/// each.
using RangeClosed = std::function<void(RowIndex range, std::span<const DeviceTime> time)>;

/// Where the time of each device went, in one pass over all events in order of time. The sum over
/// any window is a difference of two running sums, so that ranges cost no more than their two ends,
/// however they nest.
std::vector<DeviceTime> sweep_devices(const Timeline& timeline, const Placement& placement,
                                      const RangeClosed& range_closed);

}  // namespace profline::timeline::internal
