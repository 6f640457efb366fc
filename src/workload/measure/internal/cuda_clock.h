#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workload/measure/device_clock.h"

namespace profline::workload::internal {

/// An Error of kind NotFound where libtorch was built without CUDA.
Result<std::unique_ptr<DeviceClock>> make_cuda_clock(const at::Device& device);
std::int64_t cuda_peak_bytes(const at::Device& device);
std::string cuda_uuid(const at::Device& device);

}  // namespace profline::workload::internal
