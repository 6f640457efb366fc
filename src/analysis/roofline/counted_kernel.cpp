#include "analysis/roofline/counted_kernel.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/roofline/internal/operations.h"
#include "formats/csv.h"

namespace profline::roofline {
namespace {

/// Maps the names of one report to ids of another.
class Renaming {
 public:
  Renaming(const Names& from, Names& to) : from_(from), to_(to) {}
  Names::Id operator()(Names::Id id) const { return to_.id_of(from_.text(id)); }

 private:
  const Names& from_;
  Names& to_;
};

ProfiledKernel renamed(const ProfiledKernel& kernel, const Renaming& rename) {
  ProfiledKernel copy = kernel;
  for (Names::Id* id :
       {&copy.process_name, &copy.name, &copy.device_name, &copy.compute_capability}) {
    *id = rename(*id);
  }
  for (OpenRange& range : copy.ranges) {
    range.domain = rename(range.domain);
    range.name = rename(range.name);
  }
  for (Counter& counter : copy.counters) {
    counter.name = rename(counter.name);
    counter.section = rename(counter.section);
    counter.unit = rename(counter.unit);
  }
  for (CounterText& text : copy.texts) {
    text = {rename(text.name), rename(text.section), rename(text.text)};
  }
  for (CounterAdvice& advice : copy.advice) {
    advice = {rename(advice.section), rename(advice.rule), rename(advice.kind),
              rename(advice.text)};
  }
  return copy;
}

bool is_same_launch(const ProfiledKernel& a, const ProfiledKernel& b) {
  return a.id && a.id == b.id && a.process == b.process && a.name == b.name;
}

/// Adds what the second knows and the first does not.
void add_counters(ProfiledKernel& into, ProfiledKernel more) {
  const std::size_t own = into.counters.size();
  for (const Counter& counter : more.counters) {
    const auto end = into.counters.begin() + static_cast<std::ptrdiff_t>(own);
    const bool is_known = std::any_of(into.counters.begin(), end, [&](const Counter& known) {
      return known.name == counter.name && known.section == counter.section &&
             known.unit == counter.unit;
    });
    if (!is_known) into.counters.push_back(counter);
  }
  into.texts.insert(into.texts.end(), more.texts.begin(), more.texts.end());
  into.advice.insert(into.advice.end(), more.advice.begin(), more.advice.end());
  if (into.device_name == 0) into.device_name = more.device_name;
  if (into.ranges.empty()) into.ranges = std::move(more.ranges);
  if (into.shape == LaunchShape()) into.shape = more.shape;
}

void add_reading(Reading& into, const Reading& more) {
  into.used += more.used;
  for (const Reading::Skipped& skipped : more.skipped) {
    for (std::uint64_t i = 0; i < skipped.count; ++i) {
      into.skip(skipped.reason, skipped.first_position);
    }
  }
  for (const std::string& note : more.notes) {
    if (std::find(into.notes.begin(), into.notes.end(), note) == into.notes.end()) {
      into.notes.push_back(note);
    }
  }
}

using CounterKey = std::tuple<Names::Id, Names::Id, Names::Id>;

/// Sums that become means.
struct Sums {
  std::map<CounterKey, std::size_t> places;  // index in the group's counters
  std::vector<std::uint64_t> counts;
};

void add_launch(KernelMean& group, Sums& sums, const ProfiledKernel& launch) {
  group.launches += launch.launches;
  for (const Counter& counter : launch.counters) {
    const auto [found, is_new] = sums.places.try_emplace(
        CounterKey(counter.name, counter.section, counter.unit), group.kernel.counters.size());
    if (is_new) {
      group.kernel.counters.push_back(counter);
      sums.counts.push_back(1);
      continue;
    }
    group.kernel.counters[found->second].value += counter.value;
    ++sums.counts[found->second];
  }
}

using internal::Lookup;

constexpr std::size_t kBins = 10;

/// The shortest text that reads back as the same number; empty if absent.
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

void merge_into(CounterReport& into, const CounterReport& more) {
  const Renaming rename(more.names, into.names);
  const std::size_t own = into.kernels.size();
  for (const ProfiledKernel& kernel : more.kernels) {
    ProfiledKernel copy = renamed(kernel, rename);
    const auto end = into.kernels.begin() + static_cast<std::ptrdiff_t>(own);
    const auto same = std::find_if(into.kernels.begin(), end, [&](const ProfiledKernel& known) {
      return is_same_launch(known, copy);
    });
    if (same == end) {
      into.kernels.push_back(std::move(copy));
    } else {
      add_counters(*same, std::move(copy));
    }
  }
  into.cells.numbers += more.cells.numbers;
  into.cells.texts += more.cells.texts;
  into.cells.absent += more.cells.absent;
  into.cells.left_out += more.cells.left_out;
  add_reading(into.reading, more.reading);
}

std::vector<KernelMean> mean_kernels(const CounterReport& report, const MeanOptions& options) {
  using Labels = std::vector<std::pair<Names::Id, Names::Id>>;
  using Key = std::tuple<Names::Id, bool, std::array<std::uint32_t, 3>,
                         std::array<std::uint32_t, 3>, std::int32_t, Labels>;
  std::map<Key, std::size_t> places;
  std::vector<KernelMean> groups;
  std::vector<Sums> sums;
  for (const ProfiledKernel& launch : report.kernels) {
    Labels labels;
    if (options.by_ranges) {
      for (const OpenRange& range : launch.ranges) labels.emplace_back(range.domain, range.name);
    }
    const Key key(launch.name, launch.is_range, launch.shape.grid, launch.shape.block,
                  launch.device, std::move(labels));
    const auto [found, is_new] = places.try_emplace(key, groups.size());
    if (is_new) {
      groups.push_back({launch, 0});
      groups.back().kernel.counters.clear();
      sums.emplace_back();
    }
    add_launch(groups[found->second], sums[found->second], launch);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<Counter>& counters = groups[i].kernel.counters;
    for (std::size_t at = 0; at < counters.size(); ++at) {
      counters[at].value /= static_cast<double>(sums[i].counts[at]);
    }
    groups[i].kernel.launches = groups[i].launches;
  }
  return groups;
}

CountedKernel make_row(const CounterReport& report, KernelMean mean, std::string id,
                       const settings::Ceilings& ceilings, const TableOptions& options) {
  CountedKernel row;
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

std::string metrics_summary_csv(std::span<const CountedKernel> rows) {
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
  for (const CountedKernel& row : rows) {
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

std::string classification_summary_csv(std::span<const CountedKernel> rows) {
  std::string out;
  csv::append_export(out, {"kernel_id", "classification"});
  for (const CountedKernel& row : rows) {
    csv::append_export(out, {row.id, to_text(row.margin_class)});
  }
  return out;
}

std::string all_metrics_csv(const CounterReport& report, std::span<const CountedKernel> rows) {
  std::string out;
  csv::append_export(out, {"kernel_id", "section", "metric_name", "value", "unit"});
  for (const CountedKernel& row : rows) {
    for (const Counter& counter : row.mean.kernel.counters) {
      csv::append_export(
          out, {row.id, report.names.text(counter.section), report.names.text(counter.name),
                text(counter.value), report.names.text(counter.unit)});
    }
  }
  return out;
}

std::vector<Histogram> histograms(std::span<const CountedKernel> rows) {
  std::vector<Histogram> all;
  for (std::size_t metric = 0; metric < kMetricColumns.size(); ++metric) {
    std::vector<double> values;
    for (const CountedKernel& row : rows) {
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

std::string histograms_csv(std::span<const CountedKernel> rows) {
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
