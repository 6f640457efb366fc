#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "web/sections.h"
#include "web/table.h"

namespace profline::web {
namespace {

constexpr std::size_t kMostKernels = 200;
constexpr std::size_t kMostBytes = 2 << 20;

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : " / ") + part;
  return all;
}

std::optional<double> counter(const NcuKernel& kernel, std::string_view name) {
  for (const NcuCounter& one : kernel.counters) {
    if (one.name == name) return one.value;
  }
  return std::nullopt;
}

std::optional<double> percent_counter(const NcuKernel& kernel, std::string_view name) {
  const auto value = counter(kernel, name);
  return value ? std::optional<double>(*value / 100) : std::nullopt;
}

Table overview(const NcuKernels& ncu) {
  using Align = Table::Align;
  Table table("counters-table", "counters of each kernel",
              {{"kernel", Align::Left},
               {"range", Align::Left, "NVTX ranges around the launch", true},
               {"bound", Align::Left, "by what it reached of each ceiling", true},
               {"launches", Align::Right, "that were profiled"},
               {"duration", Align::Right, "mean of a launch under ncu's clocks"},
               {"FLOP", Align::Right, "a launch; a multiply-add is two"},
               {"DRAM", Align::Right, "bytes read and written, a launch"},
               {"FLOP/B", Align::Right, "operations a byte of DRAM"},
               {"of compute", Align::Right, "of the compute ceiling"},
               {"of memory", Align::Right, "of the memory ceiling"},
               {"SM", Align::Right, "sm__throughput, of its peak"},
               {"occupancy", Align::Right, "warps active, of the most"},
               {"floor", Align::Right, "time of a launch under the roof"}});
  table.with_search();
  for (const NcuKernel& kernel : ncu.kernels) {
    if (table.rows() >= kMostKernels || table.bytes() >= kMostBytes) break;
    const NcuRoofline& at = kernel.roofline;
    std::optional<double> intensity = at.intensity;
    if (!intensity && at.operations && at.dram_bytes && *at.dram_bytes > 0) {
      intensity = *at.operations / *at.dram_bytes;
    }
    table.add(
        {{long_name(kernel.short_name, kernel.name), {}, {}},
         text_cell(joined(kernel.ranges)),
         text_cell(kernel.bound),
         number_cell(kernel.launches),
         duration_cell(kernel.duration_ns),
         count_cell(at.operations),
         {at.dram_bytes
              ? text(human_bytes(static_cast<std::uint64_t>(std::max(*at.dram_bytes, 0.0))))
              : text("–"),
          at.dram_bytes,
          {}},
         count_cell(intensity),
         bar_cell(at.compute_share),
         bar_cell(at.memory_share),
         share_cell(percent_counter(kernel, "sm__throughput.avg.pct_of_peak_sustained_elapsed")),
         share_cell(percent_counter(kernel, "sm__warps_active.avg.pct_of_peak_sustained_active")),
         duration_cell(at.floor_ns)});
  }
  return table;
}

Markup counters_of(const NcuKernel& kernel) {
  Markup evidence;
  for (const std::string& reason : kernel.evidence) evidence += element("li", text(reason));
  Markup rows;
  for (const NcuCounter& one : kernel.counters) {
    rows +=
        element("tr", element("th", {{"scope", "row"}}, code(one.name)) +
                          element("td", {{"class", "n"}}, text(fmt::format("{:.6g}", one.value))) +
                          element("td", text(one.unit)));
  }
  const std::string where = kernel.ranges.empty() ? "" : " in " + joined(kernel.ranges);
  return element("details", {{"class", "kernel"}},
                 element("summary", code(kernel.short_name, 80) +
                                        text(fmt::format("{} · {} · {}", where, kernel.bound,
                                                         duration(kernel.duration_ns)))) +
                     element("p", element("code", {{"class", "whole"}}, text(kernel.name))) +
                     (evidence.empty() ? evidence : element("ul", evidence)) +
                     element("table", {{"class", "plain"}}, element("tbody", rows)));
}

}  // namespace

Section counters_section(const PageSource& source) {
  Section section{"counters", "Counters per kernel"};
  const auto& ncu = source.run.ncu_kernels;
  if (!ncu || ncu->kernels.empty()) {
    const std::string why = ncu ? ncu->why_none.value_or("it has no rows") : ncu.why_not;
    const StageRecord* const stage = source.run.run.find_stage("ncu");
    section.add_nothing(
        stage != nullptr && stage->state == StageState::Off
            ? "ncu was not enabled; pipeline.ncu.enable=true counts what kernels do."
            : "ncu counted nothing: " + ncu.file + " " + why + ".");
    return section;
  }
  const Table table = overview(*ncu);
  section.body += table.markup();
  std::string what = fmt::format("{}: {} profiled.", ncu->tool.empty() ? "ncu" : ncu->tool,
                                 counted(ncu->launches, "launch"));
  if (table.rows() < ncu->kernels.size()) {
    what += fmt::format(" Shown are the first {} of {}, by launches times duration.", table.rows(),
                        counted(ncu->kernels.size(), "row"));
  }
  section.body += source_line(what, {ncu.file});
  Markup each;
  std::size_t shown = 0;
  for (const NcuKernel& kernel : ncu->kernels) {
    if (shown == kMostKernels || each.html().size() > kMostBytes) break;
    each += counters_of(kernel);
    ++shown;
  }
  section.body += element(
      "details", {{"class", "more"}},
      element("summary", text(fmt::format("Every counter, kernel by kernel ({})", shown))) + each);
  return section;
}

}  // namespace profline::web
