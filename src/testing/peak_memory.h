#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace profline::testing {

/// The peak memory of this process since the last reset, in bytes; 0 if /proc does not say.
inline std::uint64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::uint64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

inline void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace profline::testing
