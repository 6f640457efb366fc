#include "tools/gpu/gpu_sampler.h"

#include <dlfcn.h>

#include <array>

#include "formats/json.h"
#include "tools/gpu/internal/library.h"

namespace profline::gpu {
namespace {

using internal::Library;

// The few NVML functions that we need, with their documented C signatures.
using Status = int;  // nvmlReturn_t, as CUresult in the driver
constexpr Status kNvmlSuccess = 0;
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

template <typename... Args>
Status call(const Library& library, const char* name, Args... args) {
  constexpr Status kFunctionNotFound = 13;
  using Function = Status (*)(Args...);
  void* found = dlsym(library.get(), name);
  return found == nullptr ? kFunctionNotFound : reinterpret_cast<Function>(found)(args...);
}

template <typename T>
Node number(const std::optional<T>& value) {
  return value ? Node::integer(static_cast<std::int64_t>(*value)) : Node();
}

}  // namespace

struct Nvml::Device {
  Library library;
  Handle handle = nullptr;

  ~Device() {
    if (library) call(library, "nvmlShutdown");
  }

  /// A number that NVML returns through its last argument.
  template <typename T, typename... Args>
  std::optional<T> ask(const char* name, Args... args) const {
    T value{};
    if (call(library, name, handle, args..., &value) != kNvmlSuccess) return std::nullopt;
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
  if (const Status status = call(handle, "nvmlInit_v2"); status != kNvmlSuccess) {
    return Error(ErrorKind::NotFound,
                 "NVML could not be initialised: error " + std::to_string(status));
  }
  device->library = std::move(handle);  // from here on it is shut down again
  const Status status =
      call(device->library, "nvmlDeviceGetHandleByUUID", uuid.c_str(), &device->handle);
  if (status != kNvmlSuccess) {
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
  using Energy = unsigned long long;  // NOLINT(google-runtime-int): NVML's type
  if (const auto energy = device_->ask<Energy>("nvmlDeviceGetTotalEnergyConsumption")) {
    state.energy_mj = *energy;
  }
  return state;
}

GpuSampler::GpuSampler(Nvml nvml, std::chrono::milliseconds period)
    : nvml_(std::move(nvml)),
      thread_([this, period](const std::stop_token& stopping) { look(stopping, period); }) {}

void GpuSampler::look(const std::stop_token& stopping, std::chrono::milliseconds period) {
  const auto begin = std::chrono::steady_clock::now();
  bool last = false;
  while (!last) {
    last = stopping.stop_requested();
    samples_.push_back({std::chrono::steady_clock::now() - begin, nvml_.state()});
    if (last) return;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stopping, period, [] { return false; });
  }
}

std::vector<GpuSample> GpuSampler::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return std::move(samples_);
}

std::string to_jsonl(const std::vector<GpuSample>& samples) {
  std::string text;
  for (const GpuSample& sample : samples) {
    NodeMap row;
    row.set("at_ns", Node::integer(sample.at.count()));
    row.set("sm_clock_mhz", number(sample.state.sm_clock_mhz));
    row.set("memory_clock_mhz", number(sample.state.memory_clock_mhz));
    row.set("power_mw", number(sample.state.power_mw));
    row.set("temperature_c", number(sample.state.temperature_c));
    row.set("gpu_utilisation_pct", number(sample.state.gpu_utilisation_pct));
    row.set("memory_used_bytes", number(sample.state.memory_used_bytes));
    row.set("throttle_reasons", number(sample.state.throttle_reasons));
    row.set("energy_mj", number(sample.state.energy_mj));
    text += write_json(Node::map(std::move(row)), {.indent = 0}).value() + '\n';
  }
  return text;
}

}  // namespace profline::gpu
