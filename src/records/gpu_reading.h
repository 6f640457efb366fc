#pragma once

#include <cstdint>
#include <optional>

namespace profline {

/// One NVML sample; a field has no value if NVML did not provide it.
struct GpuReading {
  double at_s = 0;  ///< since the first one
  /// By the machine's monotonic clock, as requests; runs of older versions do not have it.
  std::optional<std::int64_t> monotonic_ns;
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<double> instant_power_w;
  std::optional<double> energy_j;  ///< since the driver was loaded
  std::optional<double> temperature_c;
  std::optional<double> utilisation_pct;
  std::optional<double> memory_gib;
  std::uint64_t throttle_reasons = 0;  ///< NVML's bit mask
};

}  // namespace profline
