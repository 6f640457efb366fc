// Replaces libnvidia-ml.so.1 where there is no GPU: one device, which does not report utilisation.
// Has only the calls that tools/gpu makes. FAKE_NVML makes it an older device: `no_energy`,
// `no_instant_power`, `no_fields` (no figures by number at all), or `reset` (its energy counter
// goes back).

#include <cstdlib>
#include <cstring>

namespace {
int g_device = 0;
constexpr int kSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
struct Memory {
  unsigned long long total, free, used;
};
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency_us;
  int type, status;
  unsigned long long value;
};
bool is(const char* fault) {
  const char* given = std::getenv("FAKE_NVML");
  return given != nullptr && std::strcmp(given, fault) == 0;
}
unsigned long long g_reads = 0;
}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are NVML's
extern "C" {

int nvmlInit_v2() {
  return kSuccess;
}

int nvmlShutdown() {
  return kSuccess;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (std::strcmp(uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f") != 0) return kNotFound;
  *device = &g_device;
  return kSuccess;
}

int nvmlDeviceGetClockInfo(void* /*device*/, unsigned kind, unsigned* mhz) {
  *mhz = kind == 1 ? 1980 : 3201;
  return kSuccess;
}

int nvmlDeviceGetPowerUsage(void* /*device*/, unsigned* milliwatts) {
  *milliwatts = 312'500;
  return kSuccess;
}

int nvmlDeviceGetFieldValues(void* /*device*/, int count, FieldValue* values) {
  if (is("no_fields")) return kNotSupported;
  for (int i = 0; i < count; ++i) {
    const bool is_known = values[i].field == 186 && !is("no_instant_power");
    values[i].status = is_known ? kSuccess : kNotSupported;
    values[i].type = 1;
    values[i].value = 345'600;
  }
  return kSuccess;
}

int nvmlDeviceGetTemperature(void* /*device*/, unsigned sensor, unsigned* celsius) {
  *celsius = sensor == 0 ? 41 : 0;
  return kSuccess;
}

int nvmlDeviceGetUtilizationRates(void* /*device*/, void* /*rates*/) {
  return kNotSupported;
}

int nvmlDeviceGetMemoryInfo(void* /*device*/, Memory* memory) {
  *memory = {150'000'000'000, 140'000'000'000, 10'000'000'000};
  return kSuccess;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* reasons) {
  *reasons = 4;
  return kSuccess;
}

int nvmlDeviceGetTotalEnergyConsumption(void* /*device*/, unsigned long long* millijoules) {
  if (is("no_energy")) return kNotSupported;
  *millijoules = 5'000'000'000 / (is("reset") ? ++g_reads : 1);
  return kSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
