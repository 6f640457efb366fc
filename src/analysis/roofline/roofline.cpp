#include "analysis/roofline/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "analysis/roofline/internal/operations.h"
#include "base/figures.h"

namespace profline::roofline {
namespace {

using internal::Lookup;

constexpr double kSectorBytes = 32;

/// A counter, or a sum of two, that becomes a number of bytes when multiplied by a factor.
struct ByteSource {
  std::string_view first;
  std::string_view second;  // empty: none
  std::string_view unit;    // empty: any
  double factor = 1;
  bool is_rate = false;
};

// Best first.
constexpr ByteSource kDramSources[] = {
    {"dram__bytes.sum", "", "byte", 1, false},
    {"dram__bytes_read.sum", "dram__bytes_write.sum", "byte", 1, false},
    // Since Blackwell's consumer chips.
    {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum", "byte", 1, false},
    {"dram__sectors.sum", "", "sector", kSectorBytes, false},
    {"dram__sectors_read.sum", "dram__sectors_write.sum", "sector", kSectorBytes, false},
    {"dram__bytes.sum.per_second", "", "byte/s", 1, true},
    {"dram__bytes_read.sum.per_second", "dram__bytes_write.sum.per_second", "byte/s", 1, true},
    {"dram__bytes_op_read.sum.per_second", "dram__bytes_op_write.sum.per_second", "byte/s", 1,
     true},
    {"Memory Throughput", "", "byte/s", 1, true},
};
constexpr ByteSource kL2Sources[] = {
    {"lts__t_bytes.sum", "", "byte", 1, false},
    {"lts__t_sectors.sum", "", "sector", kSectorBytes, false},
    {"lts__t_bytes.sum.per_second", "", "byte/s", 1, true},
    {"lts__t_sectors.sum.per_second", "", "sector/s", kSectorBytes, true},
    // As in ncu's own L2 roofline. Its derived metrics have lost their units.
    {"derived__lts__lts2xbar_bytes.sum.per_second", "", "", 1, true},
    {"lts__lts2xbar_cycles_active.sum.per_second", "", "hz", kSectorBytes, true},
};

std::optional<double> amount(const Lookup& counters, std::string_view name, std::string_view unit) {
  return unit.empty() ? counters.find(name) : counters.find(name, unit);
}

std::optional<Quantity> bytes_from(const Lookup& counters, const ByteSource& source,
                                   const std::optional<Quantity>& time_ns) {
  auto bytes = amount(counters, source.first, source.unit);
  if (!bytes) return std::nullopt;
  std::string formula(source.first);
  if (!source.second.empty()) {
    const auto second = amount(counters, source.second, source.unit);
    if (!second) return std::nullopt;
    *bytes += *second;
    formula += " + " + std::string(source.second);
  }
  if (source.factor != 1) formula = "32 x (" + formula + ")";
  *bytes *= source.factor;
  if (source.is_rate) {
    if (!time_ns) return std::nullopt;
    *bytes *= time_ns->value / kNsPerSecond;
    formula += " x " + time_ns->counters;
  }
  return Quantity{*bytes, std::move(formula)};
}

template <std::size_t kCount>
std::optional<Quantity> first_bytes(const Lookup& counters, const ByteSource (&sources)[kCount],
                                    const std::optional<Quantity>& time_ns) {
  for (const ByteSource& source : sources) {
    if (auto bytes = bytes_from(counters, source, time_ns)) return bytes;
  }
  return std::nullopt;
}

std::optional<Quantity> time_of(const Lookup& counters) {
  for (const char* name : {"gpu__time_duration.sum", "gpu__time_duration.avg",
                           "gpu__time_duration_measured_user.sum", "Duration"}) {
    const auto time = counters.find(name, "ns");
    if (time && *time > 0) return Quantity{*time, name};
  }
  return std::nullopt;
}

void add_shares(const Lookup& counters, Measurement& measured) {
  constexpr std::string_view kPercent = "%";
  measured.sm_pct =
      counters.first_of({"sm__throughput.avg.pct_of_peak_sustained_elapsed",
                         "Compute (SM) Throughput", "Compute (SM) [%]", "SOL SM", "SM [%]"},
                        kPercent);
  measured.dram_pct = counters.first_of({"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                                         "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                                         "DRAM Throughput", "SOL DRAM", "SOL FB"},
                                        kPercent);
  measured.memory_pct =
      counters.first_of({"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
                         "Memory Throughput", "Memory [%]", "SOL Memory"},
                        kPercent);
  measured.l1_pct = counters.first_of({"l1tex__throughput.avg.pct_of_peak_sustained_active",
                                       "L1/TEX Cache Throughput", "SOL L1/TEX Cache"},
                                      kPercent);
  measured.l2_pct = counters.first_of(
      {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2 Cache Throughput", "SOL L2 Cache"},
      kPercent);
  measured.occupancy_pct = counters.first_of(
      {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"}, kPercent);
  measured.waves = counters.find("launch__waves_per_multiprocessor");
  if (!measured.waves) measured.waves = counters.find("Waves Per SM");
}

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

double Measurement::operations() const {
  return std::accumulate(work.begin(), work.end(), 0.0,
                         [](double sum, const Work& kind) { return sum + kind.operations; });
}

Measurement measure(const CounterReport& report, const ProfiledKernel& kernel) {
  const Lookup counters(report, kernel);
  Measurement measured;
  measured.time_ns = time_of(counters);
  measured.dram_bytes = first_bytes(counters, kDramSources, measured.time_ns);
  measured.l2_bytes = first_bytes(counters, kL2Sources, measured.time_ns);
  internal::add_tensor_work(counters, report.names.text(kernel.compute_capability), measured);
  internal::add_vector_work(counters, measured);
  add_shares(counters, measured);
  return measured;
}

bool is_useful_counter(std::string_view name) {
  constexpr std::string_view kFamilies[] = {"gpu__time_duration",
                                            "dram__bytes",
                                            "dram__sectors",
                                            "lts__t_bytes.sum",
                                            "lts__t_sectors.sum",
                                            "derived__lts__lts2xbar_bytes.sum",
                                            "lts__lts2xbar_cycles_active.sum",
                                            "lts__throughput.avg",
                                            "l1tex__throughput.avg",
                                            "sm__throughput.avg",
                                            "gpu__dram_throughput.avg",
                                            "dram__throughput.avg",
                                            "gpu__compute_memory_throughput.avg",
                                            "sm__warps_active.avg",
                                            "launch__",
                                            "sm__inst_executed_pipe_tensor",
                                            "smsp__inst_executed_pipe_tensor",
                                            "flop_count_",
                                            "smsp__cycles_elapsed.avg",
                                            "sm__cycles_elapsed.avg",
                                            "device__attribute_display_name"};
  for (const std::string_view family : kFamilies) {
    if (name.starts_with(family)) return true;
  }
  // Labels have no unit prefix such as `sm__`.
  if (name.find("__") == std::string_view::npos) return true;
  const bool counts_work = name.find("__ops_path_tensor_") != std::string_view::npos ||
                           name.find("__sass_thread_inst_executed_op_") != std::string_view::npos;
  return counts_work && (name.ends_with(".sum") || name.ends_with(".sum.per_cycle_elapsed"));
}

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
  const std::string peak = "of " + std::string(ceilings.peak_name());
  const Share compute =
      larger(point.compute_share, peak + " operations", measured.sm_pct, "sm__throughput");
  const Share memory =
      larger(point.memory_share, peak + " DRAM bandwidth",
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
