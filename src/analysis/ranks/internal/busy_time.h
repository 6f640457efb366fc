#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "records/rank_analysis.h"

namespace profline::ranks::internal {

/// [start_ns, end_ns)
struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  bool operator==(const Interval&) const = default;
};
using Intervals = std::vector<Interval>;

/// Sorts them and joins those that touch, so that they are disjoint.
void unite(Intervals& intervals);
/// Of intervals that are united.
std::int64_t length_ns(const Intervals& intervals);
/// The parts of `a` inside the windows; both are united.
Intervals common(const Intervals& a, const Intervals& windows);

struct DeviceActivity {
  Intervals compute;
  Intervals communication;
  Intervals copies;
};

/// When the devices of a rank did what.
class Activity {
 public:
  DeviceActivity& device(std::int32_t number) { return devices_[number]; }
  /// Call when all activity is added, before time_in().
  void unite();
  /// Where the time inside the windows, which are united, went; a sum over the devices.
  RankTime time_in(const Intervals& windows) const;

 private:
  std::map<std::int32_t, DeviceActivity> devices_;
};

}  // namespace profline::ranks::internal
