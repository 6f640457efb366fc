#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace profline::gpu {

struct Device {
  int index = 0;  ///< as CUDA counts them, so after CUDA_VISIBLE_DEVICES
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

/// Reason of the Error when the user-mode driver is not there at all, so that not even a profiler
/// could ask it for devices.
inline constexpr const char* kNoLibrary = "no_libcuda";

/// What the user-mode driver says, asked through `library` loaded at run time: profline itself is
/// not linked to CUDA. An Error of kind NotFound when there is no driver or no device.
Result<Driver> load_driver(const std::string& library = "libcuda.so.1");

/// Version of the NVIDIA kernel module from the text of /proc/driver/nvidia/version; empty when the
/// text does not say.
std::string kernel_module_version(std::string_view proc_text);

/// Whether the text of /proc/driver/nvidia/params keeps GPU performance counters from ordinary
/// users (ncu then answers ERR_NVGPUCTRPERM).
bool counters_are_restricted(std::string_view proc_params);

}  // namespace profline::gpu
