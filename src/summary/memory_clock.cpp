#include <algorithm>
#include <vector>

#include "summary/internal/parts.h"

namespace profline::summary {

namespace {

std::optional<double> highest_clock(const run::Run& run) {
  const Node* const gpu = run::gpu_facts(run);
  const Node* const mhz = gpu != nullptr ? gpu->find("max_memory_mhz") : nullptr;
  if (mhz == nullptr) return std::nullopt;
  double highest = 0;
  if (mhz->is_int()) highest = static_cast<double>(mhz->as_int());
  if (mhz->is_float()) highest = mhz->as_float();
  return highest > 0 ? std::optional(highest) : std::nullopt;
}

}  // namespace

std::optional<MemoryClock> memory_clock(const run::Run& run) {
  const std::optional<double> highest = highest_clock(run);
  if (!highest) return std::nullopt;
  std::vector<double> clocks;
  for (const GpuReading& reading : run::measured_readings(run)) {
    if (reading.memory_clock_mhz) clocks.push_back(*reading.memory_clock_mhz);
  }
  if (clocks.empty()) return std::nullopt;
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  return MemoryClock{std::min(*middle, *highest), *highest};
}

}  // namespace profline::summary
