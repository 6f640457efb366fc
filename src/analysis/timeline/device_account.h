#pragma once

#include <cstdint>

#include "analysis/timeline/accounting.h"
#include "records/nsys_ranges.h"

namespace profline::timeline {

/// What one device did in `wall_ns`, as it is written to files; `own` is the time of the range's
/// own work, where there is a range.
DeviceAccount device_account(std::int32_t device, const DeviceTime& time, std::int64_t wall_ns,
                             const OwnTime& own = {});

}  // namespace profline::timeline
