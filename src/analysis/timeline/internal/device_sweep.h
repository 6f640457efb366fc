#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/timeline/accounting.h"
#include "records/timeline.h"

namespace profline::timeline::internal {

/// An index in Placement::devices.
using DeviceIndex = std::uint16_t;
inline constexpr DeviceIndex kNoDevice = static_cast<DeviceIndex>(-1);

bool launches_work(CallKind kind);  ///< kernels, graphs, copies, fills

/// The device that each call and stream belongs to.
struct Placement {
  std::vector<std::int32_t> devices;        ///< ids, ascending
  std::vector<DeviceIndex> of_stream;       ///< by row of Timeline::streams
  std::vector<DeviceIndex> of_call;         ///< by row of Timeline::calls
  std::vector<std::uint8_t> kinds_of_name;  ///< by name: kCompute or kCommunication

  DeviceIndex of_work(const DeviceWork& work) const {
    return work.stream == kNoRow ? kNoDevice : of_stream[work.stream];
  }
  /// kCompute, kCopy or kCommunication.
  unsigned kind_of(const DeviceWork& work) const;
};

Placement place(const Timeline& timeline,
                const std::function<bool(std::string_view kernel_name)>& is_collective);

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
