
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

#include "analysis/kernels/canonical_name.h"
#include "analysis/kernels/classify.h"
#include "analysis/regions/region_table.h"
#include "analysis/roofline/counted_kernel.h"
#include "base/error.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/markup.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "stages/ncu/internal/captures.h"
#include "tools/ncu/csv_reader.h"
#include "tools/ncu/probe.h"

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
  const roofline::CountedKernel made =
      roofline::make_row(report, std::move(mean), "", ceilings, {});
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

/// What to keep of a report: what was requested by name, and what the roofline needs.
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

using markdown::Table;

constexpr std::size_t kShownKernels = 20;

std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

std::string shape(const std::vector<std::uint32_t>& three) {
  if (three.size() != 3) return "–";
  return fmt::format("{}×{}×{}", three[0], three[1], three[2]);
}

std::vector<std::string> kernel_cells(const NcuKernel& kernel) {
  const NcuRoofline& roof = kernel.roofline;
  std::optional<double> of_roof;
  if (roof.floor_ns && kernel.duration_ns && *kernel.duration_ns > 0) {
    of_roof = *roof.floor_ns / *kernel.duration_ns;
  }
  return {markdown::code(kernel.short_name),
          markdown::plain(kernel.kernel_class),
          markdown::code(join(kernel.ranges, " / ")),
          shape(kernel.grid),
          shape(kernel.block),
          std::to_string(kernel.launches),
          duration(kernel.duration_ns),
          markdown::plain(kernel.bound),
          percent(of_roof),
          amount(roof.operations_per_second, "FLOP/s"),
          amount(roof.bytes_per_second, "B/s"),
          plain_number(roof.intensity),
          percent(roof.compute_share),
          percent(roof.memory_share)};
}

Table region_table(const std::vector<NcuRegion>& regions) {
  Table rows({{"region", Table::Align::Left},
              {"folder", Table::Align::Left},
              {"depth"},
              {"instances"},
              {"mean"},
              {"inclusive"},
              {"exclusive"},
              {"instructions"},
              {"adds up", Table::Align::Left}});
  for (const NcuRegion& region : regions) {
    const std::string adds_up = !region.reconciles ? "–" : *region.reconciles ? "yes" : "no";
    rows.add({markdown::code(region.name), markdown::code(region.folder),
              std::to_string(region.depth), std::to_string(region.instances),
              duration(region.duration_ns), duration(region.inclusive_ns),
              duration(region.exclusive_ns), count(region.instructions), adds_up});
  }
  return rows;
}

std::string region_page(const NcuRegion& region) {
  Table counters({{"counter", Table::Align::Left}, {"mean"}, {"unit", Table::Align::Left}});
  for (const NcuCounter& counter : region.counters) {
    counters.add({markdown::code(counter.name), number(counter.value),
                  counter.unit.empty() ? "–" : markdown::plain(counter.unit)});
  }
  return "# Region " + markdown::code(region.name) + "\n\n" + region_table({region}).text() + "\n" +
         counters.text();
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
    return region.source == RegionSource::Kernels;  // from another replay mode
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
  const kernels::Classifier classifier =
      PL_TRY(kernels::classifier_with(context.setup.kernel_classes));
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

std::string kernels_page(const NcuKernels& table) {
  std::string text = "# Kernels by Nsight Compute\n\n";
  text += fmt::format("{}; {} profiled. All rows and counters: `kernels.json`.\n",
                      markdown::plain(table.tool), counted(table.launches, "launch"));
  text += table.ceilings_source.empty()
              ? "No ceilings are known for this device, so there are no roofs.\n"
              : "Ceilings: " + markdown::plain(table.ceilings_source) + ".\n";
  if (table.gate_dropped) {
    text +=
        "\n**Nothing was launched inside the ranges of nvtx.include: these kernels are counted "
        "from "
        "the program's start, loading and warm-up included.**\n";
  }
  for (const std::string& note : table.notes) text += "\n- " + markdown::plain(note);
  text += "\n\n";
  if (table.kernels.empty()) {
    return text + "No kernels: " + markdown::plain(table.why_none.value_or("none")) + ".\n";
  }
  Table rows({{"kernel", Table::Align::Left},
              {"class", Table::Align::Left},
              {"ranges", Table::Align::Left},
              {"grid"},
              {"block"},
              {"launches"},
              {"mean time"},
              {"bound by", Table::Align::Left},
              {"floor / time"},
              {"reached"},
              {"DRAM"},
              {"FLOP/B"},
              {"of compute"},
              {"of memory"}});
  const std::size_t shown = std::min(kShownKernels, table.kernels.size());
  for (std::size_t i = 0; i < shown; ++i) rows.add(kernel_cells(table.kernels[i]));
  text += rows.text();
  if (table.kernels.size() > shown) {
    text += fmt::format("\n{} in `kernels.json`.\n",
                        counted(table.kernels.size() - shown, "more row is", "more rows are"));
  }
  return text;
}

Result<void> write_regions(const NcuRegions& regions, const std::filesystem::path& folder) {
  PL_TRY(create_folders(folder));
  std::string page = "# Regions by Nsight Compute\n\n" + markdown::plain(regions.tool) +
                     ", replay mode " + markdown::plain(regions.replay_mode) + ".\n\n";
  page +=
      regions.regions.empty() ? "No ranges were replayed.\n" : region_table(regions.regions).text();
  PL_TRY(write_file_atomic(folder / run::files::kRegionsPage, page));
  PL_TRY(write_file_atomic(folder / run::files::kRegions, PL_TRY(to_document(regions))));
  for (const NcuRegion& region : regions.regions) {
    const std::filesystem::path own = folder / region.folder;
    PL_TRY(create_folders(own));
    NcuRegions one = regions;
    one.regions = {region};
    PL_TRY(write_file_atomic(own / run::files::kRegions, PL_TRY(to_document(one))));
    PL_TRY(write_file_atomic(own / run::files::kRegionsPage, region_page(region)));
  }
  return {};
}

}  // namespace profline::stages::internal
