// Replaces libcuda.so.1 where there is no GPU: two devices, or the status in FAKE_CUDA_STATUS. Has
// only the calls that tools/gpu makes.

#include <cstdlib>
#include <cstring>

namespace {
constexpr int kDevices = 2;
}

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's
extern "C" {

int cuInit(unsigned) {
  const char* status = std::getenv("FAKE_CUDA_STATUS");
  return status == nullptr ? 0 : std::atoi(status);
}

int cuDriverGetVersion(int* version) {
  *version = 13020;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = kDevices;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < kDevices ? 0 : 101;
}

int cuDeviceGetName(char* name, int size, int device) {
  std::strncpy(name, device == 0 ? "NVIDIA H200" : "NVIDIA L4", static_cast<std::size_t>(size));
  return 0;
}

int cuDeviceGetUuid_v2(unsigned char* bytes, int device) {
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(16 * device + i);
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (attribute == 75) {
    *value = device == 0 ? 9 : 8;
  } else {
    *value = device == 0 ? 0 : 9;
  }
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  *bytes = (device == 0 ? 141ULL : 24ULL) << 30U;
  return 0;
}

int cuGetErrorString(int status, const char** text) {
  *text =
      status == 803 ? "system has unsupported display driver / cuda driver combination" : nullptr;
  return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
