#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "settings/root.h"
#include "workload/measure/device_clock.h"
#include "workload/measure/gpu_sampler.h"

namespace profline::workload {

/// Where the model runs.
struct Machine {
  at::Device device;
  std::unique_ptr<DeviceClock> clock;
  std::uint32_t threads;

  bool is_gpu() const { return device.is_cuda(); }
};

/// The device of the settings, and as many threads as they say (all cores, when they do not). Auto
/// is the first CUDA device, else the CPU.
Result<Machine> open_machine(const settings::Root& settings);

at::ScalarType scalar_type(settings::Dtype dtype);
/// `bf16`, `fp16`, `fp32`
std::string dtype_text(settings::Dtype dtype);

}  // namespace profline::workload
