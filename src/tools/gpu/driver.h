#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
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

/// The state of a GPU at one moment. What the card or the driver does not report is absent.
struct GpuState {
  std::optional<std::uint32_t> sm_clock_mhz;
  std::optional<std::uint32_t> memory_clock_mhz;
  std::optional<std::uint32_t> power_mw;  ///< on newer GPUs, an average over a second
  std::optional<std::uint32_t> power_instant_mw;
  std::optional<std::uint32_t> temperature_c;
  std::optional<std::uint32_t> gpu_utilisation_pct;
  std::optional<std::uint64_t> memory_used_bytes;
  /// NVML's reasons for reduced clocks (nvmlClocksThrottleReasons).
  std::optional<std::uint64_t> throttle_reasons;
  /// Used since the driver was loaded; the difference of two samples counts.
  std::optional<std::uint64_t> energy_mj;

  bool operator==(const GpuState&) const = default;
};

/// NVIDIA's management library, loaded at run time; nothing is linked to it.
class Nvml {
 public:
  /// The device with this "GPU-…" uuid, whatever its NVML index: CUDA_VISIBLE_DEVICES and
  /// CUDA_DEVICE_ORDER change CUDA's indices, but never a uuid. An Error of kind NotFound if the
  /// library or the device does not exist.
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

struct GpuSample {
  std::chrono::nanoseconds at{0};         ///< since the sampler began
  std::chrono::nanoseconds monotonic{0};  ///< the same by the machine's monotonic clock
  GpuState state;
};

/// Samples a GPU periodically on its own thread while something else runs.
class GpuSampler {
 public:
  explicit GpuSampler(Nvml nvml, std::chrono::milliseconds period = std::chrono::milliseconds(100));
  /// Ends the thread.
  ~GpuSampler() = default;
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  /// Takes a last sample, ends the thread and returns all samples.
  std::vector<GpuSample> stop();

 private:
  void look(const std::stop_token& stopping, std::chrono::milliseconds period);

  Nvml nvml_;
  std::vector<GpuSample> samples_;  // owned by the thread until it has ended
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses all of the above
};

/// One line of gpu.jsonl per sample.
std::string to_jsonl(const std::vector<GpuSample>& samples);

}  // namespace profline::gpu
