#include "tools/gpu/driver.h"

#include <dlfcn.h>

#include <array>
#include <memory>

#include "base/strings.h"
#include "formats/json.h"

namespace profline::gpu::internal {

struct CloseLibrary {
  void operator()(void* handle) const { dlclose(handle); }
};
/// A library of the driver, loaded at run time.
using Library = std::unique_ptr<void, CloseLibrary>;

}  // namespace profline::gpu::internal

namespace profline::gpu {
namespace {

using internal::Library;

// The few calls of CUDA's driver API that we need, with their documented C signatures.
using Status = int;  // CUresult
constexpr Status kSuccess = 0;
constexpr Status kNoDevice = 100;
constexpr int kComputeMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kComputeMinor = 76;
struct Uuid {
  std::array<unsigned char, 16> bytes;
};

/// The opened libcuda; each call is looked up by name when it is made.
class Cuda {
 public:
  explicit Cuda(Library library) : library_(std::move(library)) {}

  template <typename... Args>
  Result<void> call(const char* name, Args... args) const {
    using Function = Status (*)(Args...);
    void* found = dlsym(library_.get(), name);
    if (found == nullptr) {
      return Error(ErrorKind::Tool, "the NVIDIA driver lacks " + std::string(name));
    }
    const Status status = reinterpret_cast<Function>(found)(args...);
    if (status == kSuccess) return {};
    if (status == kNoDevice) return Error(ErrorKind::NotFound, "the NVIDIA driver sees no GPU");
    return Error(ErrorKind::Tool, std::string(name) + " failed: " + error_text(status));
  }

 private:
  std::string error_text(Status status) const {
    using ErrorText = Status (*)(Status, const char**);
    const char* text = nullptr;
    if (void* found = dlsym(library_.get(), "cuGetErrorString")) {
      reinterpret_cast<ErrorText>(found)(status, &text);
    }
    const std::string number = "error " + std::to_string(status);
    return text == nullptr ? number : std::string(text) + " (" + number + ")";
  }

  Library library_;
};

/// GPU-00112233-4455-6677-8899-aabbccddeeff
std::string uuid_text(const Uuid& uuid) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kHex[uuid.bytes[i] >> 4U];
    text += kHex[uuid.bytes[i] & 15U];
  }
  return text;
}

Result<Device> read_device(const Cuda& cuda, int index) {
  Device device;
  device.index = index;
  int handle = 0;
  PL_TRY(cuda.call("cuDeviceGet", &handle, index));
  std::array<char, 256> name{};
  PL_TRY(cuda.call("cuDeviceGetName", name.data(), static_cast<int>(name.size()) - 1, handle));
  device.name = name.data();
  Uuid uuid{};
  // CUDA 11.4 added the variant that distinguishes MIG slices; either name may exist.
  if (!cuda.call("cuDeviceGetUuid_v2", &uuid, handle)) {
    PL_TRY(cuda.call("cuDeviceGetUuid", &uuid, handle));
  }
  device.uuid = uuid_text(uuid);
  PL_TRY(cuda.call("cuDeviceGetAttribute", &device.compute_major, kComputeMajor, handle));
  PL_TRY(cuda.call("cuDeviceGetAttribute", &device.compute_minor, kComputeMinor, handle));
  std::size_t bytes = 0;
  PL_TRY(cuda.call("cuDeviceTotalMem_v2", &bytes, handle));
  device.memory_bytes = bytes;
  return device;
}

/// The value after `key` in lines such as `RmProfilingAdminOnly: 1`; empty without such a line.
std::string_view value_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : lines(text)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key) {
      return trim(line.substr(colon + 1));
    }
  }
  return {};
}

}  // namespace

Result<Driver> load_driver(const std::string& library) {
  Library handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (handle == nullptr) {
    const char* why = dlerror();  // NOLINT(concurrency-mt-unsafe)
    const std::string reason = why == nullptr ? "it cannot be loaded" : why;
    return Error(ErrorKind::NotFound, "no NVIDIA driver: " + reason).with_reason(kNoLibrary);
  }
  const Cuda cuda(std::move(handle));
  PL_TRY(cuda.call("cuInit", 0U));
  Driver driver;
  int version = 0;
  PL_TRY(cuda.call("cuDriverGetVersion", &version));  // 13000 is CUDA 13.0
  driver.cuda_major = version / 1000;
  driver.cuda_minor = version % 1000 / 10;
  int count = 0;
  PL_TRY(cuda.call("cuDeviceGetCount", &count));
  if (count == 0) return Error(ErrorKind::NotFound, "the NVIDIA driver sees no GPU");
  for (int index = 0; index < count; ++index) {
    driver.devices.push_back(PL_TRY(read_device(cuda, index)));
  }
  return driver;
}

std::string kernel_module_version(std::string_view proc_text) {
  // NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2025
  // NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (...)
  for (const std::string_view line : lines(proc_text)) {
    if (!line.starts_with("NVRM version:")) continue;
    for (const std::string_view word : split(line, ' ')) {
      const bool numeric =
          !word.empty() && word.find_first_not_of("0123456789.") == std::string_view::npos;
      if (numeric && word.find('.') != std::string_view::npos) return std::string(word);
    }
  }
  return {};
}

bool counters_are_restricted(std::string_view proc_params) {
  return value_of(proc_params, "RmProfilingAdminOnly") == "1";
}

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
// nvmlFieldValue_t, with which newer figures are read by number.
struct FieldValue {
  unsigned field = 0;
  unsigned scope = 0;
  std::int64_t timestamp = 0;
  std::int64_t latency_us = 0;
  int type = 0;
  int status = 0;
  std::uint64_t value = 0;
};
constexpr unsigned kPowerInstant = 186;  // NVML_FI_DEV_POWER_INSTANT
constexpr int kUnsignedInt = 1;          // NVML_VALUE_TYPE_UNSIGNED_INT

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

  /// A figure that has a number instead of a function.
  std::optional<std::uint32_t> ask_field(unsigned field) const {
    FieldValue value;
    value.field = field;
    if (call(library, "nvmlDeviceGetFieldValues", handle, 1, &value) != kNvmlSuccess) {
      return std::nullopt;
    }
    if (value.status != kNvmlSuccess || value.type != kUnsignedInt) return std::nullopt;
    return static_cast<std::uint32_t>(value.value);
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
  state.power_instant_mw = device_->ask_field(kPowerInstant);
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
    const auto now = std::chrono::steady_clock::now();
    samples_.push_back({now - begin, now.time_since_epoch(), nvml_.state()});
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
    row.set("monotonic_ns", Node::integer(sample.monotonic.count()));
    row.set("sm_clock_mhz", number(sample.state.sm_clock_mhz));
    row.set("memory_clock_mhz", number(sample.state.memory_clock_mhz));
    row.set("power_mw", number(sample.state.power_mw));
    row.set("power_instant_mw", number(sample.state.power_instant_mw));
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
