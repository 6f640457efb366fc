#include "summary/internal/memory_roof.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "summary/static_costs.h"

namespace profline::summary {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kPercent = 100;

std::string bandwidth_of(const std::string& device, const std::string& source) {
  return "the bandwidth of " + (device.empty() ? "this device" : device) +
         (source.empty() ? "" : " (" + source + ")");
}

std::optional<SummaryMemoryRoof> of_static_analysis(const run::Run& run) {
  const auto& static_costs = run.get(kStaticCosts);
  if (!static_costs) return std::nullopt;
  const settings::Ceilings& ceilings = static_costs->ceilings;
  if (!ceilings.bytes_per_second || *ceilings.bytes_per_second <= 0) return std::nullopt;
  return SummaryMemoryRoof{*ceilings.bytes_per_second,
                           bandwidth_of(ceilings.device, ceilings.source), static_costs.file};
}

/// A CPU's bandwidth is measured with the baseline; phases are compared with it.
std::optional<SummaryMemoryRoof> of_phases(const std::vector<PhaseSummary>& phases) {
  for (const PhaseSummary& phase : phases) {
    if (!phase.cost || phase.cost->memory_ns.value_or(0) <= 0 || phase.cost->bytes <= 0) continue;
    return SummaryMemoryRoof{phase.cost->bytes / *phase.cost->memory_ns * kNsPerSecond,
                             phase.cost->ceilings, phase.cost->source};
  }
  return std::nullopt;
}

/// If the floor is longer than the operations take at peak rate, it is the time of the bytes.
std::optional<double> bandwidth_of_floor(const NcuRoofline& at) {
  if (!at.floor_ns || !at.dram_bytes || *at.floor_ns <= 0 || *at.dram_bytes <= 0) {
    return std::nullopt;
  }
  double compute_ns = 0;
  if (at.operations.value_or(0) > 0) {
    if (!at.peak_operations_per_second || *at.peak_operations_per_second <= 0) return std::nullopt;
    compute_ns = *at.operations / *at.peak_operations_per_second * kNsPerSecond;
  }
  constexpr double kMoreThanRounding = 1.0001;
  if (*at.floor_ns <= compute_ns * kMoreThanRounding) return std::nullopt;
  return *at.dram_bytes / *at.floor_ns * kNsPerSecond;
}

std::optional<SummaryMemoryRoof> of_kernel_floors(const run::Run& run) {
  const auto& ncu_kernels = run.get(run::kNcuKernels);
  if (!ncu_kernels) return std::nullopt;
  for (const NcuKernel& kernel : ncu_kernels->kernels) {
    if (const auto rate = bandwidth_of_floor(kernel.roofline)) {
      return SummaryMemoryRoof{
          *rate, bandwidth_of(kernel.device_name, ncu_kernels->ceilings_source), ncu_kernels.file};
    }
  }
  return std::nullopt;
}

/// DRAM throughput alone, in percent of the sustained peak.
std::optional<double> dram_percent(const NcuKernel& kernel) {
  constexpr std::array<std::string_view, 3> kNames = {
      "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
      "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput"};
  for (const std::string_view name : kNames) {
    for (const NcuCounter& counter : kernel.counters) {
      if (counter.name == name && counter.unit == "%") return counter.value;
    }
  }
  return std::nullopt;
}

/// Uses the kernel with the largest share: its percentage lost the least to rounding.
std::optional<SummaryMemoryRoof> of_dram_counters(const run::Run& run) {
  const auto& ncu_kernels = run.get(run::kNcuKernels);
  if (!ncu_kernels) return std::nullopt;
  double best = 0;
  double rate = 0;
  for (const NcuKernel& kernel : ncu_kernels->kernels) {
    const auto share = dram_percent(kernel);
    const auto& reached = kernel.roofline.bytes_per_second;
    if (!share || !reached || *share <= best || *reached <= 0) continue;
    best = *share;
    rate = *reached / (*share / kPercent);
  }
  if (best <= 0) return std::nullopt;
  return SummaryMemoryRoof{
      rate, "what ncu's DRAM throughput counters imply; the device table has no entry",
      ncu_kernels.file};
}

}  // namespace

std::optional<SummaryMemoryRoof> memory_roof(const run::Run& run,
                                             const std::vector<PhaseSummary>& phases) {
  if (auto roof = of_static_analysis(run)) return roof;
  if (auto roof = of_phases(phases)) return roof;
  if (auto roof = of_kernel_floors(run)) return roof;
  return of_dram_counters(run);
}

}  // namespace profline::summary
