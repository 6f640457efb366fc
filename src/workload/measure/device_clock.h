#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>

#include "base/result.h"

namespace profline::workload {

/// Points in the work submitted to a device. On a GPU they are CUDA events on the current stream: a
/// point is reached when all earlier work is done, and marking one does not wait. On a CPU, where
/// work is done when the call returns, they are readings of the steady clock.
class DeviceClock {
 public:
  virtual ~DeviceClock() = default;

  /// Marks the current point; counts from 0 since the last restart().
  virtual std::size_t mark() = 0;
  /// Waits until the device has finished all submitted work.
  virtual void synchronise() = 0;
  /// The time from one point to another; both must have been marked before the last synchronise().
  virtual std::chrono::nanoseconds between(std::size_t from, std::size_t to) const = 0;
  /// Forgets all points.
  virtual void restart() = 0;
};

/// The clock of the device. An Error if this libtorch does not support the device.
Result<std::unique_ptr<DeviceClock>> make_device_clock(const at::Device& device);

/// The peak memory that libtorch has allocated on a CUDA device; nothing for others.
std::optional<std::int64_t> peak_memory_bytes(const at::Device& device);

/// "GPU-…" of a CUDA device, as NVML spells it; empty for others.
std::string device_uuid(const at::Device& device);

}  // namespace profline::workload
