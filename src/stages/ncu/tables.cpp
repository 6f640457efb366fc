#include "stages/ncu/internal/tables.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/kernels/canonical_name.h"
#include "analysis/kernels/shipped_classes.h"
#include "analysis/regions/region_table.h"
#include "analysis/roofline/kernel_table.h"
#include "base/assert.h"
#include "base/figures.h"
#include "schema/read.h"
#include "stages/ncu/internal/files.h"
#include "tools/ncu/csv_reader.h"
#include "tools/ncu/metrics.h"

namespace profline::stages::internal {
namespace {

using roofline::KernelMean;

std::optional<double> finite(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::vector<std::uint32_t> shape_numbers(const std::array<std::uint32_t, 3>& three) {
  if (three == std::array<std::uint32_t, 3>{}) return {};
  return {three.begin(), three.end()};
}

std::vector<std::string> labels_of(const CounterReport& report, const ProfiledKernel& kernel) {
  std::vector<std::string> labels;
  for (const OpenRange& range : kernel.ranges) {
    const std::string& domain = report.names.text(range.domain);
    const std::string& name = report.names.text(range.name);
    labels.push_back(domain.empty() ? name : domain + ":" + name);
  }
  return labels;
}

std::vector<NcuCounter> counters_of(const CounterReport& report, const ProfiledKernel& kernel) {
  std::vector<NcuCounter> counters;
  for (const Counter& counter : kernel.counters) {
    if (!std::isfinite(counter.value)) continue;
    counters.push_back(
        {report.names.text(counter.name), report.names.text(counter.unit), counter.value});
  }
  return counters;
}

NcuRoofline roofline_of(const roofline::Point& point) {
  return {.operations = finite(point.operations),
          .dram_bytes = finite(point.dram_bytes),
          .l2_bytes = finite(point.l2_bytes),
          .intensity = finite(point.intensity),
          .operations_per_second = finite(point.operations_per_second),
          .bytes_per_second = finite(point.bytes_per_second),
          .peak_operations_per_second = finite(point.peak_operations_per_second),
          .attainable_operations_per_second = finite(point.attainable_operations_per_second),
          .floor_ns = finite(point.floor_ns),
          .compute_share = finite(point.compute_share),
          .memory_share = finite(point.memory_share)};
}

void name_kernel(const std::string& printed, bool is_range, const kernels::Classifier& classifier,
                 NcuKernel& row) {
  row.printed_name = printed;
  row.is_range = is_range;
  if (is_range) {
    row.name = row.short_name = printed;
    row.kernel_class = "range";
    return;
  }
  const kernels::CanonicalName name = kernels::canonical_name(printed);
  row.name = name.full;
  row.short_name = name.short_name;
  row.kernel_class = classifier.class_of(name);
}

NcuKernel kernel_row(const CounterReport& report, KernelMean mean,
                     const settings::Ceilings& ceilings, const kernels::Classifier& classifier) {
  NcuKernel row;
  const roofline::KernelRow made = roofline::make_row(report, std::move(mean), "", ceilings, {});
  const ProfiledKernel& kernel = made.mean.kernel;
  name_kernel(made.name, kernel.is_range, classifier, row);
  row.grid = shape_numbers(kernel.shape.grid);
  row.block = shape_numbers(kernel.shape.block);
  row.ranges = labels_of(report, kernel);
  row.device = kernel.device;
  row.device_name = made.device_name;
  row.launches = made.mean.launches;
  row.duration_ns = finite(made.point.time_ns);
  row.counters = counters_of(report, kernel);
  for (const roofline::Work& work : made.measured.work) {
    row.work.push_back({std::string(to_text(work.cores)), std::string(to_text(work.precision)),
                        work.operations, work.counters});
  }
  row.roofline = roofline_of(made.point);
  row.bound = to_text(made.point.bound);
  row.margin_class = to_text(made.margin_class);
  row.evidence = made.point.evidence;
  return row;
}

double total_ns(const NcuKernel& kernel) {
  return kernel.duration_ns.value_or(0) * static_cast<double>(kernel.launches);
}

/// What is kept of a report: what was asked for by name, and what the roofline needs.
std::set<std::string> asked_for(const pipeline::StageContext& context) {
  const settings::NcuCli& cli = context.setup.settings.pipeline.ncu.ncu_cli;
  const ncu::Collection collected = ncu::collection(ncu_of(context.tools), cli);
  return {collected.metrics.begin(), collected.metrics.end()};
}

std::vector<std::string> notes_of(const Reading& reading) {
  std::vector<std::string> notes = reading.notes;
  for (const Reading::Skipped& skipped : reading.skipped) {
    notes.push_back(counted(skipped.count, "row") + " skipped: " + skipped.reason + " (" +
                    skipped.first_position + ")");
  }
  return notes;
}

}  // namespace

NcuKernels kernel_rows(const CounterReport& report, const settings::Ceilings& ceilings,
                       const kernels::Classifier& classifier) {
  NcuKernels table;
  table.ceilings_source = ceilings.source;
  table.notes = notes_of(report.reading);
  for (KernelMean& mean : roofline::mean_kernels(report, {.by_ranges = true})) {
    table.kernels.push_back(kernel_row(report, std::move(mean), ceilings, classifier));
    table.launches += table.kernels.back().launches;
  }
  std::stable_sort(
      table.kernels.begin(), table.kernels.end(),
      [](const NcuKernel& a, const NcuKernel& b) { return total_ns(a) > total_ns(b); });
  return table;
}

std::vector<NcuRegion> region_rows(const CounterReport& report) {
  auto regions = regions::region_table(report);
  PL_ASSERT(regions, "there are no rules that could be wrong");
  std::erase_if(*regions, [](const NcuRegion& region) {
    return region.source == RegionSource::Kernels;  // of another replay mode
  });
  return *std::move(regions);
}

Result<NcuTables> make_tables(const pipeline::StageContext& context,
                              std::span<const std::filesystem::path> csvs) {
  const pipeline::RunSetup& setup = context.setup;
  const settings::NcuCli& cli = setup.settings.pipeline.ncu.ncu_cli;
  const ncu::Installation ncu = ncu_of(context.tools);
  const std::set<std::string> asked = asked_for(context);
  const auto is_kept = [&](std::string_view name) {
    return asked.count(std::string(name)) > 0 || roofline::is_useful_counter(name);
  };
  CounterReport report;
  for (const std::filesystem::path& csv : csvs) {
    auto part = ncu::load_csv(csv.string(), {.source = csv.filename().string(), .keep = is_kept});
    if (!part) return std::move(part).error();
    report.append(*part);
  }
  ncu::add_flop_counts(report, ncu::collection(ncu, cli).translated);
  const kernels::Classifier classifier = PL_TRY(kernels::shipped_classifier());
  NcuTables tables;
  tables.kernels = kernel_rows(report, setup.ceilings, classifier);
  tables.kernels.tool = "ncu " + ncu.version.to_string();
  tables.kernels.gate_dropped = NcuFiles(setup).was_rerun();
  if (tables.kernels.kernels.empty()) tables.kernels.why_none = "the report holds no rows";
  if (!ncu::is_range_replay(cli)) return tables;
  tables.regions = NcuRegions{.tool = tables.kernels.tool,
                              .replay_mode = schema::write(*cli.replay_mode).as_string(),
                              .regions = region_rows(report)};
  return tables;
}

}  // namespace profline::stages::internal
