#include "workload/measure/nvml.h"

#include <dlfcn.h>

#include <array>

namespace profline::workload {
namespace {

// The few calls of NVML that we need, by its documented C signatures.
using Status = int;  // nvmlReturn_t
constexpr Status kSuccess = 0;
using Handle = void*;  // nvmlDevice_t
constexpr unsigned kTemperatureGpu = 0;
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
struct Memory {
  std::uint64_t total, free, used;
};
struct Utilisation {
  std::uint32_t gpu, memory;
};

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

template <typename... Args>
Status call(const Library& library, const char* name, Args... args) {
  constexpr Status kFunctionNotFound = 13;
  using Function = Status (*)(Args...);
  void* found = dlsym(library.get(), name);
  return found == nullptr ? kFunctionNotFound : reinterpret_cast<Function>(found)(args...);
}

}  // namespace

struct Nvml::Device {
  Library library;
  Handle handle = nullptr;

  ~Device() {
    if (library) call(library, "nvmlShutdown");
  }

  /// A number that NVML tells through its last argument.
  template <typename T, typename... Args>
  std::optional<T> ask(const char* name, Args... args) const {
    T value{};
    if (call(library, name, handle, args..., &value) != kSuccess) return std::nullopt;
    return value;
  }
};

Nvml::Nvml(std::unique_ptr<Device> device) : device_(std::move(device)) {}
Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&&) noexcept = default;
Nvml::~Nvml() = default;

Result<Nvml> Nvml::open(const std::string& uuid, const std::string& library) {
  auto device = std::make_unique<Device>();
  Library handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (handle == nullptr) {
    const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe)
    return Error(ErrorKind::NotFound, "no NVML: " + std::string(why == nullptr ? library : why));
  }
  if (const Status status = call(handle, "nvmlInit_v2"); status != kSuccess) {
    return Error(ErrorKind::NotFound, "NVML does not start: error " + std::to_string(status));
  }
  device->library = std::move(handle);  // from here on it is shut down again
  const Status status =
      call(device->library, "nvmlDeviceGetHandleByUUID", uuid.c_str(), &device->handle);
  if (status != kSuccess) {
    return Error(ErrorKind::NotFound,
                 "NVML has no device " + uuid + ": error " + std::to_string(status));
  }
  return Nvml(std::move(device));
}

GpuState Nvml::state() const {
  GpuState state;
  state.sm_clock_mhz = device_->ask<std::uint32_t>("nvmlDeviceGetClockInfo", kClockSm);
  state.memory_clock_mhz = device_->ask<std::uint32_t>("nvmlDeviceGetClockInfo", kClockMemory);
  state.power_mw = device_->ask<std::uint32_t>("nvmlDeviceGetPowerUsage");
  state.temperature_c = device_->ask<std::uint32_t>("nvmlDeviceGetTemperature", kTemperatureGpu);
  if (const auto utilisation = device_->ask<Utilisation>("nvmlDeviceGetUtilizationRates")) {
    state.gpu_utilisation_pct = utilisation->gpu;
  }
  if (const auto memory = device_->ask<Memory>("nvmlDeviceGetMemoryInfo")) {
    state.memory_used_bytes = memory->used;
  }
  using Reasons = unsigned long long;  // NOLINT(google-runtime-int): NVML's type
  if (const auto reasons = device_->ask<Reasons>("nvmlDeviceGetCurrentClocksThrottleReasons")) {
    state.throttle_reasons = *reasons;
  }
  return state;
}

}  // namespace profline::workload
