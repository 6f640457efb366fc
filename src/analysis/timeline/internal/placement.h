#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

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

}  // namespace profline::timeline::internal
