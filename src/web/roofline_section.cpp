#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/figures.h"
#include "web/internal/sections.h"
#include "web/markup.h"

namespace profline::web {
namespace {

constexpr std::size_t kMostPoints = 500;

/// The ceilings of the device, derived from the shares in the artifacts.
struct Roof {
  std::map<std::string, double> operations_per_second;  ///< by cores and precision
  std::optional<SummaryMemoryRoof> memory;
};

void add_counted(Roof& roof, const NcuKernels& kernels) {
  for (const NcuKernel& kernel : kernels.kernels) {
    const NcuRoofline& at = kernel.roofline;
    // The peak of mixed precisions is not a ceiling of one precision.
    if (kernel.work.size() != 1 || !at.peak_operations_per_second) continue;
    const NcuWork& work = kernel.work.front();
    roof.operations_per_second[work.precision + " " + work.cores] = *at.peak_operations_per_second;
  }
}

void add_modelled(Roof& roof, const RunSummary& summary) {
  const std::string name = (summary.dtype.empty() ? "model's format" : summary.dtype) + ", dense";
  for (const PhaseSummary& phase : summary.phases) {
    if (!phase.cost) continue;
    const SummaryCost& cost = *phase.cost;
    if (cost.compute_ns && *cost.compute_ns > 0 && cost.flops > 0) {
      roof.operations_per_second.emplace(name, cost.flops / *cost.compute_ns * 1e9);
    }
  }
  // The same ceiling under two names: the name from the counters says which cores.
  const auto modelled = roof.operations_per_second.find(name);
  if (modelled == roof.operations_per_second.end()) return;
  for (const auto& [other, rate] : roof.operations_per_second) {
    if (other != modelled->first && rate > 0 && std::abs(rate / modelled->second - 1) < 0.01) {
      roof.operations_per_second.erase(modelled);
      return;
    }
  }
}

Roof roof_of(const PageSource& source) {
  const auto& ncu_kernels = source.run.get(run::kNcuKernels);
  Roof roof;
  if (ncu_kernels) add_counted(roof, *ncu_kernels);
  add_modelled(roof, source.summary);
  roof.memory = source.summary.memory_roof;
  return roof;
}

struct Point {
  std::string name;
  std::string whole;
  std::string phase;
  std::string bound;
  double intensity = 0;
  double operations_per_second = 0;
  double time_ns = 0;  ///< in total
  std::optional<double> of_roof;
  bool is_phase = false;
};

std::string phase_of(const SummaryKernel& kernel) {
  const auto most = std::max_element(kernel.phases.begin(), kernel.phases.end(),
                                     [](const SummaryKernelPart& a, const SummaryKernelPart& b) {
                                       return a.total_ns < b.total_ns;
                                     });
  return most == kernel.phases.end() ? "no range" : most->name;
}

void add_kernels(std::vector<Point>& points, const RunSummary& summary) {
  for (const SummaryKernel& kernel : summary.kernels) {
    if (!kernel.counters || points.size() >= kMostPoints) continue;
    const NcuRoofline& at = kernel.counters->roofline;
    const auto duration_ns = kernel.counters->duration_ns;
    if (!at.operations || !at.dram_bytes || !duration_ns) continue;
    if (*at.operations <= 0 || *at.dram_bytes <= 0 || *duration_ns <= 0) continue;
    Point point;
    point.name = kernel.short_name;
    point.whole = kernel.name;
    point.phase = phase_of(kernel);
    point.bound = kernel.counters->bound;
    point.intensity = *at.operations / *at.dram_bytes;
    point.operations_per_second = *at.operations / *duration_ns * 1e9;
    point.time_ns = kernel.time ? summary.join.ranking().ns(*kernel.time)
                                : *duration_ns * static_cast<double>(kernel.counters->launches);
    if (at.floor_ns) point.of_roof = *at.floor_ns / *duration_ns;
    points.push_back(std::move(point));
  }
}

void add_phases(std::vector<Point>& points, const RunSummary& summary) {
  for (const PhaseSummary& phase : summary.phases) {
    if (!phase.cost || !phase.mean_ns || phase.cost->bytes <= 0 || *phase.mean_ns <= 0) continue;
    if (phase.cost->flops <= 0) continue;
    Point point;
    point.name = phase.name + ", as a whole";
    point.whole = phase.name + ": FLOPs and bytes computed from the model's shapes";
    point.phase = phase.name;
    point.bound = phase.kind;
    point.intensity = phase.cost->flops / phase.cost->bytes;
    point.operations_per_second = phase.cost->flops / *phase.mean_ns * 1e9;
    point.time_ns =
        summary.request && phase.share ? summary.request->mean_ns * *phase.share : *phase.mean_ns;
    point.of_roof = phase.cost->of_floor;
    point.is_phase = true;
    points.push_back(std::move(point));
  }
}

/// What limits the device according to the sources that shares do not refer to, for the precisions
/// that are drawn.
Node others_of(const Roof& roof, const RunSummary& summary) {
  Node others = Node::list();
  if (!summary.ceilings) return others;
  for (const profline::Roof& other : summary.ceilings->roofs) {
    if (other.is_used) continue;
    Node rates = Node::list();
    for (const RoofRate& rate : other.rates) {
      const bool is_drawn =
          roof.operations_per_second.contains(rate.precision + " " + rate.cores) ||
          roof.operations_per_second.contains(rate.precision + ", dense");
      if (is_drawn) rates.as_list().push_back(number(rate.operations_per_second));
    }
    others.as_list().push_back(object({{"name", Node::string(other.kind)},
                                       {"bytes_per_second", number(other.bytes_per_second)},
                                       {"rates", std::move(rates)}}));
  }
  return others;
}

/// `4.60 TB/s; bf16 790 TFLOP/s, ...`
std::string rates_words(const profline::Roof& roof) {
  std::string words;
  for (const RoofRate& rate : roof.rates) {
    words += fmt::format("{}{} {} {}", words.empty() ? "" : ", ", rate.precision, rate.cores,
                         amount(rate.operations_per_second, "FLOP/s"));
  }
  return words;
}

/// `; dashed: datasheet`
std::string other_words(const RunSummary& summary) {
  std::string words;
  if (!summary.ceilings) return words;
  std::string used;
  for (const profline::Roof& roof : summary.ceilings->roofs) {
    if (roof.is_used) used = roof.kind;
    if (!roof.is_used) words += (words.empty() ? "; dashed: " : ", ") + roof.kind;
  }
  return (used.empty() ? "" : ", " + used) + words;
}

/// All that is known about the device's limits.
Markup ceilings_table(const RunSummary& summary) {
  if (!summary.ceilings || summary.ceilings->roofs.empty()) return {};
  using Align = Table::Align;
  Table table("ceilings-table", "what the device could reach",
              {{"ceilings", Align::Left},
               {"memory"},
               {"arithmetic", Align::Text},
               {"source", Align::Text}});
  for (const profline::Roof& roof : summary.ceilings->roofs) {
    table.add({text_cell(roof.kind + (roof.is_used ? ", used here" : "")),
               {text(roof.bytes_per_second ? amount(*roof.bytes_per_second, "B/s") : "–"),
                roof.bytes_per_second,
                {}},
               text_cell(rates_words(roof)),
               text_cell(roof.source)});
  }
  return table.markup() +
         source_line("Shares refer to the one that is used: " + summary.ceilings->why + ".",
                     {run::files::kCeilings});
}

Node data_of(const Roof& roof, const RunSummary& summary, const std::vector<Point>& points) {
  Node ceilings = Node::list();
  for (const auto& [name, rate] : roof.operations_per_second) {
    ceilings.as_list().push_back(object({{"name", Node::string(name)}, {"rate", number(rate)}}));
  }
  Node list = Node::list();
  for (const Point& point : points) {
    list.as_list().push_back(object({{"name", Node::string(point.name)},
                                     {"whole", Node::string(point.whole)},
                                     {"phase", Node::string(point.phase)},
                                     {"bound", Node::string(point.bound)},
                                     {"intensity", number(point.intensity)},
                                     {"rate", number(point.operations_per_second)},
                                     {"time_ns", number(point.time_ns)},
                                     {"of_roof", number(point.of_roof)},
                                     {"is_phase", Node::boolean(point.is_phase)}}));
  }
  const auto bandwidth = roof.memory ? std::optional(roof.memory->bytes_per_second) : std::nullopt;
  return object({{"bytes_per_second", number(bandwidth)},
                 {"ceilings", std::move(ceilings)},
                 {"others", others_of(roof, summary)},
                 {"points", std::move(list)}});
}

Markup point_table(const std::vector<Point>& points) {
  using Align = Table::Align;
  Table table("roofline-table", "points under the roof",
              {{"what", Align::Left},
               {"phase", Align::Left, "", true},
               {"FLOP/B", Align::Right, "operations per byte of device memory"},
               {"FLOP/s"},
               {"of roof", Align::Right, "floor divided by time"},
               {"time"},
               {"bound", Align::Left, "", true}});
  table.with_search();
  for (const Point& point : points) {
    table.add({{long_name(point.name, point.whole), {}, {}},
               text_cell(point.phase),
               count_cell(point.intensity),
               count_cell(point.operations_per_second),
               bar_cell(point.of_roof),
               duration_cell(point.time_ns),
               text_cell(point.bound)});
  }
  return table.markup();
}

/// The sources of the chart's lines.
Markup roof_lines(const PageSource& source, const Roof& roof) {
  const auto& ncu_kernels = source.run.get(run::kNcuKernels);
  Markup html;
  if (roof.memory) {
    html +=
        source_line(fmt::format("Memory roof: {}, {}.",
                                amount(roof.memory->bytes_per_second, "B/s"), roof.memory->from),
                    {roof.memory->source});
  } else {
    html += source_line("There is no memory roof: the bandwidth of this device is not known.", {});
  }
  if (roof.operations_per_second.empty()) return html;
  std::vector<std::string> files;
  std::string ceilings;
  if (ncu_kernels) {
    files.push_back(ncu_kernels.file);
    ceilings = ncu_kernels->ceilings_source;
  }
  for (const PhaseSummary& phase : source.summary.phases) {
    if (!phase.cost) continue;
    files.push_back(phase.cost->source);
    if (ceilings.empty()) ceilings = phase.cost->ceilings;
  }
  return html + source_line("Compute roofs: " + ceilings + ".", files);
}

}  // namespace

Section roofline_section(const PageSource& source) {
  const RunSummary& summary = source.summary;
  Section section{"roofline", "Roofline"};
  std::vector<Point> points;
  add_kernels(points, summary);
  add_phases(points, summary);
  if (points.empty()) {
    section.add_nothing(
        "No kernel or phase has both operations and bytes: that needs static analysis or ncu.");
    return section;
  }
  const Roof roof = roof_of(source);
  section.add_chart(
      "roofline", "operations per second over operations per byte, with the device's ceilings",
      text(std::string("Circles are kernels: FLOPs and DRAM bytes from counters, area "
                       "by time. ") +
           "Diamonds are phases of the model: FLOPs and bytes computed from the "
           "model's shapes, time without a profiler. The lines are the device's "
           "limits" +
           other_words(summary) + "."),
      data_of(roof, summary, points));
  section.body +=
      element("details", {{"class", "more"}},
              element("summary", text(fmt::format("The points as a table ({})", points.size()))) +
                  point_table(points)) +
      roof_lines(source, roof) + ceilings_table(summary);
  return section;
}

}  // namespace profline::web
