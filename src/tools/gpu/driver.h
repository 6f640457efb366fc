#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace profline::gpu {

struct Device {
  int index = 0;  ///< CUDA's number, so after CUDA_VISIBLE_DEVICES
  std::string name;
  std::string uuid;  ///< "GPU-…", as NVML and nvidia-smi spell it
  int compute_major = 0;
  int compute_minor = 0;
  std::uint64_t memory_bytes = 0;
};

struct Driver {
  int cuda_major = 0;  ///< newest CUDA the driver runs
  int cuda_minor = 0;
  std::vector<Device> devices;  ///< never empty
};

/// Reason of the Error if there is no user-mode driver at all, so that not even a profiler could
/// query it for devices.
inline constexpr const char* kNoLibrary = "no_libcuda";

/// Queries the user-mode driver through `library`, which is loaded at run time: profline itself is
/// not linked to CUDA. An Error of kind NotFound if there is no driver or no device.
Result<Driver> load_driver(const std::string& library = "libcuda.so.1");

/// Version of the NVIDIA kernel module from the text of /proc/driver/nvidia/version; empty if the
/// text does not contain it.
std::string kernel_module_version(std::string_view proc_text);

/// Whether, according to the text of /proc/driver/nvidia/params, ordinary users may not use GPU
/// performance counters (ncu then reports ERR_NVGPUCTRPERM).
bool counters_are_restricted(std::string_view proc_params);

}  // namespace profline::gpu
