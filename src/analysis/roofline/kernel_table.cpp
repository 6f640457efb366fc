#include "analysis/roofline/kernel_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/roofline/internal/lookup.h"
#include "formats/csv.h"

namespace profline::roofline {
namespace {

using internal::Lookup;

constexpr std::size_t kBins = 10;

/// The shortest text that reads back as the same number; empty for none.
std::string text(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string size_text(const std::array<std::uint32_t, 3>& size) {
  if (size == std::array<std::uint32_t, 3>{}) return {};
  return fmt::format("({}, {}, {})", size[0], size[1], size[2]);
}

std::optional<double> scaled(const std::optional<double>& value, double by) {
  if (!value) return std::nullopt;
  return *value / by;
}

std::array<std::optional<double>, kMetricColumns.size()> metrics_of(const Lookup& counters,
                                                                    const Measurement& measured) {
  constexpr std::string_view kPercent = "%";
  std::optional<double> bandwidth = counters.find("dram__bytes.sum.per_second", "byte/s");
  if (!bandwidth) bandwidth = counters.find("Memory Throughput", "byte/s");
  if (!bandwidth && measured.dram_bytes && measured.time_ns) {
    bandwidth = measured.dram_bytes->value / measured.time_ns->value * 1e9;
  }
  std::optional<double> time_ns;
  if (measured.time_ns) time_ns = measured.time_ns->value;
  return {
      measured.sm_pct,
      measured.dram_pct,
      measured.memory_pct,
      measured.l1_pct,
      measured.l2_pct,
      scaled(time_ns, 1e3),
      counters.first_of(
          {"gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed", "Mem Busy"},
          kPercent),
      counters.first_of({"gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed",
                         "Max Bandwidth"},
                        kPercent),
      scaled(bandwidth, 1e9),
      counters.first_of({"l1tex__t_sector_hit_rate.pct", "L1/TEX Hit Rate"}, kPercent),
      counters.first_of({"lts__t_sector_hit_rate.pct", "L2 Hit Rate"}, kPercent),
      measured.occupancy_pct,
      counters.first_of({"sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy"},
                        kPercent)};
}

}  // namespace

KernelRow make_row(const CounterReport& report, KernelMean mean, std::string id,
                   const settings::Ceilings& ceilings, const TableOptions& options) {
  KernelRow row;
  row.id = std::move(id);
  row.name = report.names.text(mean.kernel.name);
  row.display_name = row.name;
  row.device_name = report.names.text(mean.kernel.device_name);
  row.compute_capability = report.names.text(mean.kernel.compute_capability);
  row.process_name = report.names.text(mean.kernel.process_name);
  row.measured = measure(report, mean.kernel);
  row.metrics = metrics_of(Lookup(report, mean.kernel), row.measured);
  row.margin_class =
      classify_by_margin(row.measured.sm_pct, row.measured.dram_pct, options.classify_margin);
  row.point = place(row.measured, ceilings, options.point);
  row.mean = std::move(mean);
  return row;
}

std::string metrics_summary_csv(std::span<const KernelRow> rows) {
  std::vector<std::string> header = {"kernel_id", "kernel_name", "display_name",
                                     "grid_size", "block_size",  "device",
                                     "cc",        "process",     "process_id"};
  header.insert(header.end(), kMetricColumns.begin(), kMetricColumns.end());
  for (const char* name :
       {"classification", "roofline_ai_flops_per_byte", "roofline_flops_per_s", "kernel_class",
        "bound", "launches", "attainable_flops_per_s", "dram_bytes", "l2_bytes", "floor_us"}) {
    header.emplace_back(name);
  }
  std::string out;
  csv::append_export(out, header);
  for (const KernelRow& row : rows) {
    const ProfiledKernel& kernel = row.mean.kernel;
    std::vector<std::string> cells = {
        row.id,
        row.name,
        row.display_name,
        size_text(kernel.shape.grid),
        size_text(kernel.shape.block),
        row.device_name.empty() ? std::to_string(kernel.device) : row.device_name,
        row.compute_capability,
        row.process_name,
        std::to_string(kernel.process)};
    for (const auto& metric : row.metrics) cells.push_back(text(metric));
    const Point& point = row.point;
    for (std::string& cell : std::vector<std::string>{
             std::string(to_text(row.margin_class)), text(point.intensity),
             text(point.operations_per_second), row.kernel_class, std::string(to_text(point.bound)),
             std::to_string(row.mean.launches), text(point.attainable_operations_per_second),
             text(point.dram_bytes), text(point.l2_bytes), text(scaled(point.floor_ns, 1e3))}) {
      cells.push_back(std::move(cell));
    }
    csv::append_export(out, cells);
  }
  return out;
}

std::string classification_summary_csv(std::span<const KernelRow> rows) {
  std::string out;
  csv::append_export(out, {"kernel_id", "classification"});
  for (const KernelRow& row : rows) {
    csv::append_export(out, {row.id, to_text(row.margin_class)});
  }
  return out;
}

std::string all_metrics_csv(const CounterReport& report, std::span<const KernelRow> rows) {
  std::string out;
  csv::append_export(out, {"kernel_id", "section", "metric_name", "value", "unit"});
  for (const KernelRow& row : rows) {
    for (const Counter& counter : row.mean.kernel.counters) {
      csv::append_export(
          out, {row.id, report.names.text(counter.section), report.names.text(counter.name),
                text(counter.value), report.names.text(counter.unit)});
    }
  }
  return out;
}

std::vector<Histogram> histograms(std::span<const KernelRow> rows) {
  std::vector<Histogram> all;
  for (std::size_t metric = 0; metric < kMetricColumns.size(); ++metric) {
    std::vector<double> values;
    for (const KernelRow& row : rows) {
      if (row.metrics[metric]) values.push_back(*row.metrics[metric]);
    }
    if (values.empty()) continue;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double width = (*high - *low) / kBins;
    Histogram histogram{kMetricColumns[metric], {}};
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      const double from = *low + width * static_cast<double>(bin);
      histogram.bins.push_back({from, bin + 1 == kBins ? *high : from + width, 0});
    }
    for (const double value : values) {
      const double bin = width > 0 ? (value - *low) / width : 0;
      ++histogram.bins[std::min(static_cast<std::size_t>(bin), kBins - 1)].kernels;
    }
    all.push_back(std::move(histogram));
  }
  return all;
}

std::string histograms_csv(std::span<const KernelRow> rows) {
  std::string out;
  csv::append_export(out, {"metric", "bin_low", "bin_high", "kernels"});
  for (const Histogram& histogram : histograms(rows)) {
    for (const Histogram::Bin& bin : histogram.bins) {
      csv::append_export(out, {std::string(histogram.metric), text(bin.low), text(bin.high),
                               std::to_string(bin.kernels)});
    }
  }
  return out;
}

}  // namespace profline::roofline
