#include "analysis/roofline/point.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/figures.h"

namespace profline::roofline {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kPercent = 100;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

/// The time of the work at peak rates; tensor and vector cores run in parallel. Nothing if one of
/// its precisions has no ceiling.
std::optional<double> compute_ns(const Measurement& measured, const settings::Ceilings& ceilings,
                                 std::vector<std::string>& evidence) {
  if (!measured.counted_operations) return std::nullopt;
  double tensor = 0;
  double vector = 0;
  for (const Work& work : measured.work) {
    const auto rate = ceilings.rate(work.cores, work.precision, work.accumulation);
    if (!rate) {
      if (!ceilings.device.empty()) {
        evidence.push_back(ceilings.device + " has no ceiling for " +
                           std::string(to_text(work.precision)) + " on its " +
                           std::string(to_text(work.cores)) + " cores");
      }
      return std::nullopt;
    }
    (work.cores == Cores::Tensor ? tensor : vector) += work.operations / *rate * kNsPerSecond;
  }
  return std::max(tensor, vector);
}

/// What is known about one side, and its source.
struct Share {
  std::optional<double> value;
  std::string source;
};

Share larger(const std::optional<double>& by_ceiling, std::string_view ceiling_name,
             const std::optional<double>& by_counter_pct, std::string_view counter_name) {
  Share share;
  if (by_ceiling) share = {by_ceiling, std::string(ceiling_name)};
  if (by_counter_pct && (!share.value || *by_counter_pct / kPercent > *share.value)) {
    share = {*by_counter_pct / kPercent, std::string(counter_name)};
  }
  return share;
}

Bound decide(const Share& compute, const Share& memory, const PointOptions& options) {
  if (!compute.value && !memory.value) return Bound::Unknown;
  const double c = compute.value.value_or(0);
  const double m = memory.value.value_or(0);
  const bool both = compute.value && memory.value;
  if (std::max(c, m) < options.latency_below) return both ? Bound::Latency : Bound::Unknown;
  if (both && std::abs(c - m) <= options.margin) return Bound::Mixed;
  return c > m ? Bound::Compute : Bound::Memory;
}

void explain(const Share& compute, const Share& memory, const Measurement& measured, Point& point) {
  for (const auto& [name, share] : {std::pair("compute", &compute), std::pair("memory", &memory)}) {
    point.evidence.push_back(std::string(name) + ' ' +
                             (share->value ? percent(*share->value) + " (" + share->source + ")"
                                           : std::string("not known")));
  }
  if (point.bound == Bound::Latency && measured.waves && *measured.waves < 1) {
    point.evidence.push_back("the grid is " + number(*measured.waves) +
                             " waves: it does not fill the device");
  }
  if (point.bound == Bound::Latency && measured.occupancy_pct) {
    point.evidence.push_back("occupancy " + percent(*measured.occupancy_pct / kPercent));
  }
  for (const std::string& note : measured.notes) point.evidence.push_back(note);
}

std::optional<double> ratio(const std::optional<double>& above,
                            const std::optional<double>& below) {
  if (!above || !below || *below <= 0) return std::nullopt;
  return *above / *below;
}

void add_measured(const Measurement& measured, Point& point) {
  if (measured.time_ns) point.time_ns = measured.time_ns->value;
  if (measured.dram_bytes) point.dram_bytes = measured.dram_bytes->value;
  if (measured.l2_bytes) point.l2_bytes = measured.l2_bytes->value;
  if (measured.counted_operations) point.operations = measured.operations();
  point.intensity = ratio(point.operations, point.dram_bytes);
  point.l2_intensity = ratio(point.operations, point.l2_bytes);
  if (!point.time_ns) return;
  const double seconds = *point.time_ns / kNsPerSecond;
  point.operations_per_second = ratio(point.operations, seconds);
  point.bytes_per_second = ratio(point.dram_bytes, seconds);
}

/// Fills in what follows from the ceilings.
void add_roof(const std::optional<double>& at_peak_ns, const settings::Ceilings& ceilings,
              Point& point) {
  std::optional<double> memory_ns;
  if (point.dram_bytes && ceilings.bytes_per_second) {
    memory_ns = *point.dram_bytes / *ceilings.bytes_per_second * kNsPerSecond;
  }
  if (at_peak_ns && *at_peak_ns > 0) {
    point.peak_operations_per_second = *point.operations / *at_peak_ns * kNsPerSecond;
  }
  if (at_peak_ns && memory_ns) {
    point.floor_ns = std::max(*at_peak_ns, *memory_ns);
    if (*point.floor_ns > 0 && *point.operations > 0) {
      point.attainable_operations_per_second = *point.operations / *point.floor_ns * kNsPerSecond;
    }
  }
  point.compute_share = ratio(at_peak_ns, point.time_ns);
  point.memory_share = ratio(memory_ns, point.time_ns);
}

}  // namespace

std::string_view to_text(Bound bound) {
  switch (bound) {
    case Bound::Compute:
      return "compute";
    case Bound::Memory:
      return "memory";
    case Bound::Mixed:
      return "mixed";
    case Bound::Latency:
      return "latency";
    case Bound::Unknown:
      break;
  }
  return "unknown";
}

Point place(const Measurement& measured, const settings::Ceilings& ceilings,
            const PointOptions& options) {
  Point point;
  add_measured(measured, point);
  const auto at_peak_ns = compute_ns(measured, ceilings, point.evidence);
  add_roof(at_peak_ns, ceilings, point);
  const Share compute =
      larger(point.compute_share, "of peak operations", measured.sm_pct, "sm__throughput");
  const Share memory =
      larger(point.memory_share, "of DRAM bandwidth",
             measured.memory_pct ? measured.memory_pct : measured.dram_pct,
             measured.memory_pct ? "gpu__compute_memory_throughput" : "gpu__dram_throughput");
  point.compute_share = compute.value;
  point.memory_share = memory.value;
  point.bound = decide(compute, memory, options);
  explain(compute, memory, measured, point);
  return point;
}

std::string_view to_text(MarginClass margin_class) {
  switch (margin_class) {
    case MarginClass::ComputeBound:
      return "compute_bound";
    case MarginClass::MemoryBound:
      return "memory_bound";
    case MarginClass::Balanced:
      return "balanced";
    case MarginClass::Unknown:
      break;
  }
  return "unknown";
}

MarginClass classify_by_margin(std::optional<double> sm_pct, std::optional<double> dram_pct,
                               double margin) {
  if (!sm_pct || !dram_pct) return MarginClass::Unknown;
  const double difference = *sm_pct - *dram_pct;
  if (difference > margin) return MarginClass::ComputeBound;
  if (difference < -margin) return MarginClass::MemoryBound;
  return MarginClass::Balanced;
}

}  // namespace profline::roofline
