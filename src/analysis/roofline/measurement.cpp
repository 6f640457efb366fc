#include "analysis/roofline/measurement.h"

#include <array>
#include <numeric>

#include "analysis/roofline/internal/operations.h"

namespace profline::roofline {
namespace {

using internal::Lookup;

constexpr double kNsPerSecond = 1e9;
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

}  // namespace profline::roofline
