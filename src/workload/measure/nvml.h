#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace profline::workload {

/// What a GPU is doing at one moment. What the card or the driver does not tell is absent.
struct GpuState {
  std::optional<std::uint32_t> sm_clock_mhz;
  std::optional<std::uint32_t> memory_clock_mhz;
  std::optional<std::uint32_t> power_mw;
  std::optional<std::uint32_t> temperature_c;
  std::optional<std::uint32_t> gpu_utilisation_pct;
  std::optional<std::uint64_t> memory_used_bytes;
  /// NVML's bits for what holds the clocks down (nvmlClocksThrottleReasons).
  std::optional<std::uint64_t> throttle_reasons;

  bool operator==(const GpuState&) const = default;
};

/// NVIDIA's management library, loaded at run time: nothing of ours is linked to it.
class Nvml {
 public:
  /// The device with this "GPU-…" uuid, whatever number NVML gives it: CUDA_VISIBLE_DEVICES and
  /// CUDA_DEVICE_ORDER change CUDA's numbers, never a uuid. An Error of kind NotFound when there is
  /// no such library or device.
  static Result<Nvml> open(const std::string& uuid,
                           const std::string& library = "libnvidia-ml.so.1");
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;
  ~Nvml();

  GpuState state() const;

 private:
  struct Device;
  explicit Nvml(std::unique_ptr<Device> device);
  std::unique_ptr<Device> device_;
};

}  // namespace profline::workload
