#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/roofline/kernel_mean.h"
#include "analysis/roofline/point.h"

/// The tables of captured kernels: one row a kernel, as CSV files whose columns say their unit.
namespace profline::roofline {

struct TableOptions {
  double classify_margin = 5.0;  ///< points of a percent, of the predecessor's rule
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

struct KernelRow {
  std::string id;            ///< of the folder or of the row: `kernel_0001_…`
  std::string name;          ///< as ncu wrote it
  std::string display_name;  ///< what people call it
  std::string kernel_class;  ///< `gemm`, ...; filled in by who knows classes
  KernelMean mean;
  std::string device_name, compute_capability, process_name;
  std::array<std::optional<double>, kMetricColumns.size()> metrics;
  MarginClass margin_class = MarginClass::Unknown;
  Measurement measured;
  Point point;
};

KernelRow make_row(const CounterReport& report, KernelMean mean, std::string id,
                   const settings::Ceilings& ceilings, const TableOptions& options);

/// `metrics_summary.csv`: all of a row.
std::string metrics_summary_csv(std::span<const KernelRow> rows);
/// `classification_summary.csv`: kernel_id, classification.
std::string classification_summary_csv(std::span<const KernelRow> rows);
/// What was counted, in base units with their names: kernel_id, section, metric_name, value, unit.
std::string all_metrics_csv(const CounterReport& report, std::span<const KernelRow> rows);
/// How many kernels have a figure in each of ten equal bins between its least and its greatest.
struct Histogram {
  struct Bin {
    double low = 0;
    double high = 0;
    std::size_t kernels = 0;
  };
  std::string_view metric;  ///< of kMetricColumns
  std::vector<Bin> bins;
};
/// Of each of the thirteen figures that any kernel has.
std::vector<Histogram> histograms(std::span<const KernelRow> rows);

/// `histograms.csv`: the same as a table.
std::string histograms_csv(std::span<const KernelRow> rows);

}  // namespace profline::roofline
