#include <algorithm>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "formats/markdown.h"
#include "stages/ncu/internal/tables.h"

namespace profline::stages::internal {
namespace {

using markdown::Table;

constexpr std::size_t kShownKernels = 20;

std::string duration(const std::optional<double>& ns) {
  return ns ? human_duration(FractionalNanoseconds(*ns)) : "–";
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", 100 * *share) : "–";
}

std::string rate(const std::optional<double>& per_second, std::string_view unit) {
  return per_second ? human_count(*per_second) + std::string(unit) : "–";
}

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
          rate(roof.operations_per_second, "FLOP/s"),
          rate(roof.bytes_per_second, "B/s"),
          roof.intensity ? fmt::format("{:.3g}", *roof.intensity) : "–",
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
              duration(region.exclusive_ns),
              region.instructions ? human_count(*region.instructions) : "–", adds_up});
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
    text += fmt::format("\n{} more rows are in `kernels.json`.\n", table.kernels.size() - shown);
  }
  return text;
}

Result<void> write_regions(const NcuRegions& regions, const std::filesystem::path& folder) {
  PL_TRY(create_folders(folder));
  std::string page = "# Regions by Nsight Compute\n\n" + markdown::plain(regions.tool) +
                     ", replay mode " + markdown::plain(regions.replay_mode) + ".\n\n";
  page +=
      regions.regions.empty() ? "No ranges were replayed.\n" : region_table(regions.regions).text();
  PL_TRY(write_file_atomic(folder / "report.md", page));
  PL_TRY(write_file_atomic(folder / "report.json", PL_TRY(to_document(regions))));
  for (const NcuRegion& region : regions.regions) {
    const std::filesystem::path own = folder / region.folder;
    PL_TRY(create_folders(own));
    NcuRegions one = regions;
    one.regions = {region};
    PL_TRY(write_file_atomic(own / "report.json", PL_TRY(to_document(one))));
    PL_TRY(write_file_atomic(own / "report.md", region_page(region)));
  }
  return {};
}

}  // namespace profline::stages::internal
