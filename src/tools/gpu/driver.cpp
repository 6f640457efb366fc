#include "tools/gpu/driver.h"

#include <dlfcn.h>

#include <array>
#include <memory>

#include "base/strings.h"
#include "tools/gpu/internal/library.h"

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

}  // namespace profline::gpu
