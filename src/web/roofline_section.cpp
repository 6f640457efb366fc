#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/units.h"
#include "report/numbers.h"
#include "web/sections.h"
#include "web/table.h"

namespace profline::web {
namespace {

constexpr std::size_t kMostPoints = 500;

/// What the device can do, as the artifacts' own shares say.
struct Roof {
  std::map<std::string, double> operations_per_second;  ///< by cores and precision
  std::optional<double> bytes_per_second;
};

void add_counted(Roof& roof, const NcuKernels& kernels) {
  for (const NcuKernel& kernel : kernels.kernels) {
    const NcuRoofline& at = kernel.roofline;
    // The peak of a mixture is no ceiling of one precision.
    if (kernel.work.size() == 1 && at.peak_operations_per_second) {
      const NcuWork& work = kernel.work.front();
      roof.operations_per_second[work.precision + " " + work.cores] =
          *at.peak_operations_per_second;
    }
    if (!roof.bytes_per_second && at.bytes_per_second && at.memory_share && *at.memory_share > 0) {
      roof.bytes_per_second = *at.bytes_per_second / *at.memory_share;
    }
  }
}

void add_modelled(Roof& roof, const RunSummary& summary) {
  for (const SummaryStage& stage : summary.stages) {
    if (!stage.cost) continue;
    const SummaryCost& cost = *stage.cost;
    // Rather this than what counters imply: those are rounded.
    if (cost.memory_ns && *cost.memory_ns > 0 && cost.bytes > 0) {
      roof.bytes_per_second = cost.bytes / *cost.memory_ns * 1e9;
    }
    const std::string name = (summary.dtype.empty() ? "model's format" : summary.dtype) + ", dense";
    if (cost.compute_ns && *cost.compute_ns > 0 && cost.flops > 0) {
      roof.operations_per_second.emplace(name, cost.flops / *cost.compute_ns * 1e9);
    }
  }
  // The same ceiling under two names: the counters' one says which cores.
  const auto modelled = roof.operations_per_second.find(summary.dtype + ", dense");
  if (modelled == roof.operations_per_second.end()) return;
  for (const auto& [name, rate] : roof.operations_per_second) {
    if (name != modelled->first && rate > 0 && std::abs(rate / modelled->second - 1) < 0.01) {
      roof.operations_per_second.erase(modelled);
      return;
    }
  }
}

struct Point {
  std::string name;
  std::string whole;
  std::string region;
  std::string bound;
  double intensity = 0;
  double operations_per_second = 0;
  double time_ns = 0;  ///< all that it took
  std::optional<double> of_roof;
  bool is_stage = false;
};

std::string region_of(const SummaryKernel& kernel) {
  const auto most = std::max_element(kernel.stages.begin(), kernel.stages.end(),
                                     [](const SummaryKernelPart& a, const SummaryKernelPart& b) {
                                       return a.total_ns < b.total_ns;
                                     });
  return most == kernel.stages.end() ? "no range" : most->name;
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
    point.region = region_of(kernel);
    point.bound = kernel.counters->bound;
    point.intensity = *at.operations / *at.dram_bytes;
    point.operations_per_second = *at.operations / *duration_ns * 1e9;
    point.time_ns = kernel.time ? kernel.time->total_ns
                                : *duration_ns * static_cast<double>(kernel.counters->launches);
    if (at.floor_ns) point.of_roof = *at.floor_ns / *duration_ns;
    points.push_back(std::move(point));
  }
}

void add_stages(std::vector<Point>& points, const RunSummary& summary) {
  for (const SummaryStage& stage : summary.stages) {
    if (!stage.cost || !stage.mean_ns || stage.cost->bytes <= 0 || *stage.mean_ns <= 0) continue;
    if (stage.cost->flops <= 0) continue;
    Point point;
    point.name = stage.name + ", as a whole";
    point.whole = stage.name + ": FLOPs and bytes by its shapes";
    point.region = stage.name;
    point.bound = stage.kind;
    point.intensity = stage.cost->flops / stage.cost->bytes;
    point.operations_per_second = stage.cost->flops / *stage.mean_ns * 1e9;
    point.time_ns =
        summary.request && stage.share ? summary.request->mean_ns * *stage.share : *stage.mean_ns;
    point.of_roof = stage.cost->of_floor;
    point.is_stage = true;
    points.push_back(std::move(point));
  }
}

Node data_of(const Roof& roof, const std::vector<Point>& points) {
  Node ceilings = Node::list();
  for (const auto& [name, rate] : roof.operations_per_second) {
    ceilings.as_list().push_back(object({{"name", Node::string(name)}, {"rate", number(rate)}}));
  }
  Node list = Node::list();
  for (const Point& point : points) {
    list.as_list().push_back(object({{"name", Node::string(point.name)},
                                     {"whole", Node::string(point.whole)},
                                     {"region", Node::string(point.region)},
                                     {"bound", Node::string(point.bound)},
                                     {"intensity", number(point.intensity)},
                                     {"rate", number(point.operations_per_second)},
                                     {"time_ns", number(point.time_ns)},
                                     {"of_roof", number(point.of_roof)},
                                     {"is_stage", Node::boolean(point.is_stage)}}));
  }
  return object({{"bytes_per_second", number(roof.bytes_per_second)},
                 {"ceilings", std::move(ceilings)},
                 {"points", std::move(list)}});
}

Markup point_table(const std::vector<Point>& points) {
  using Align = Table::Align;
  Table table("roofline-table", "points under the roof",
              {{"what", Align::Left},
               {"region", Align::Left, "", true},
               {"FLOP/B", Align::Right, "operations a byte of device memory"},
               {"FLOP/s"},
               {"of roof", Align::Right, "floor by time"},
               {"time"},
               {"bound", Align::Left, "", true}});
  table.with_search();
  for (const Point& point : points) {
    table.add({{long_name(point.name, point.whole), {}, {}},
               text_cell(point.region),
               count_cell(point.intensity),
               count_cell(point.operations_per_second),
               bar_cell(point.of_roof),
               duration_cell(point.time_ns),
               text_cell(point.bound)});
  }
  return table.markup();
}

}  // namespace

Section roofline_section(const PageSource& source) {
  const RunSummary& summary = source.summary;
  Section section{"roofline", "Roofline"};
  Roof roof;
  if (source.run.ncu_kernels) add_counted(roof, *source.run.ncu_kernels);
  add_modelled(roof, summary);
  std::vector<Point> points;
  add_kernels(points, summary);
  add_stages(points, summary);
  if (points.empty()) {
    section.add_nothing(
        "Nothing has both operations and bytes: that takes static analysis or ncu.");
    return section;
  }
  section.add_chart("roofline",
                    "operations a second by operations a byte, with the device's ceilings",
                    text("Circles: kernels, FLOPs and DRAM bytes by their counters, area by their "
                         "time. Diamonds: stages of the "
                         "model, FLOPs and bytes by their shapes and the unprofiled time. Lines: "
                         "what the device could do."),
                    data_of(roof, points));
  section.body +=
      element("details", {{"class", "more"}},
              element("summary", text(fmt::format("The points as a table ({})", points.size()))) +
                  point_table(points));
  std::vector<std::string> files;
  std::string ceilings;
  if (source.run.ncu_kernels) {
    files.push_back(source.run.ncu_kernels.file);
    ceilings = source.run.ncu_kernels->ceilings_source;
  }
  for (const SummaryStage& stage : summary.stages) {
    if (!stage.cost) continue;
    files.push_back(stage.cost->source);
    if (ceilings.empty()) ceilings = stage.cost->ceilings;
  }
  section.body +=
      source_line("Ceilings: " + (ceilings.empty() ? "not known" : ceilings) + ".", files);
  return section;
}

}  // namespace profline::web
