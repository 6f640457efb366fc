#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/roofline/roofline.h"
#include "records/counters.h"

/// What ncu counted for kernels: launches of one kernel merged, and tables with one row per kernel,
/// as CSV files whose columns state their unit.
namespace profline::roofline {

/// Adds another file about the same launches (one ncu report is often exported section by section):
/// counters of launches that `into` has are added to them unless already present; other launches
/// are appended. Notes and skipped rows are added up.
void merge_into(CounterReport& into, const CounterReport& more);

/// Launches of one kernel with one shape on one device, merged.
struct KernelMean {
  ProfiledKernel kernel;       ///< its counters are means; the rest is the first launch's
  std::uint64_t launches = 0;  ///< that were profiled
};

struct MeanOptions {
  bool by_ranges = false;  ///< launches in different ranges are separate rows
};

/// In order of first launch.
std::vector<KernelMean> mean_kernels(const CounterReport& report, const MeanOptions& options = {});

struct TableOptions {
  double classify_margin = 5.0;  ///< in percentage points, for the predecessor's rule
  PointOptions point;
};

/// The predecessor's thirteen figures.
inline constexpr std::array<std::string_view, 13> kMetricColumns = {"sm_throughput_pct",
                                                                    "dram_throughput_pct",
                                                                    "mem_throughput_pct",
                                                                    "l1tex_throughput_pct",
                                                                    "l2_throughput_pct",
                                                                    "duration_us",
                                                                    "mem_busy_pct",
                                                                    "max_bandwidth_pct",
                                                                    "memory_throughput_gbs",
                                                                    "l1tex_hit_rate_pct",
                                                                    "l2_hit_rate_pct",
                                                                    "achieved_occupancy_pct",
                                                                    "theoretical_occupancy_pct"};

/// A kernel with its counters: a row of the tables.
struct CountedKernel {
  std::string id;            ///< of the folder or of the row: `kernel_0001_…`
  std::string name;          ///< as ncu wrote it
  std::string display_name;  ///< for display
  std::string kernel_class;  ///< `gemm`, ...; filled in by the caller
  KernelMean mean;
  std::string device_name, compute_capability, process_name;
  std::array<std::optional<double>, kMetricColumns.size()> metrics;
  MarginClass margin_class = MarginClass::Unknown;
  Measurement measured;
  Point point;
};

CountedKernel make_row(const CounterReport& report, KernelMean mean, std::string id,
                       const settings::Ceilings& ceilings, const TableOptions& options);

/// `metrics_summary.csv`: every column of a row.
std::string metrics_summary_csv(std::span<const CountedKernel> rows);
/// `classification_summary.csv`: kernel_id, classification.
std::string classification_summary_csv(std::span<const CountedKernel> rows);
/// All counters, in base units with their names: kernel_id, section, metric_name, value, unit.
std::string all_metrics_csv(const CounterReport& report, std::span<const CountedKernel> rows);
/// How many kernels have a figure in each of ten equal bins between its minimum and its maximum.
struct Histogram {
  struct Bin {
    double low = 0;
    double high = 0;
    std::size_t kernels = 0;
  };
  std::string_view metric;  ///< of kMetricColumns
  std::vector<Bin> bins;
};
/// One for each of the thirteen figures that any kernel has.
std::vector<Histogram> histograms(std::span<const CountedKernel> rows);

/// `histograms.csv`: the same as a table.
std::string histograms_csv(std::span<const CountedKernel> rows);

}  // namespace profline::roofline
