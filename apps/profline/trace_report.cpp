#include "trace_report.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "range_choice.h"

namespace profline {
namespace {

/// Most time first; what takes equally long by name.
template <typename Row, typename NameOf>
void order(std::vector<Row>& rows, NameOf name_of) {
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : name_of(a) < name_of(b);
  });
}

class Kernels {
 public:
  Kernels(const Timeline& timeline, const kernels::Classifier& classes)
      : timeline_(timeline), classes_(classes) {}

  void add(const timeline::KernelRow& row) {
    TraceKernel& kernel = kernel_of(row.name);
    if (kernel.instances == 0 || row.min_ns < kernel.min_ns) kernel.min_ns = row.min_ns;
    kernel.max_ns = std::max(kernel.max_ns, row.max_ns);
    kernel.instances += row.instances;
    kernel.total_ns += row.total_ns;
    add_shape(row, kernel);
    add_launcher(row, kernel);
  }

  void give(TraceReport& report) {
    std::map<std::string, TraceClass> classes;
    for (const TraceKernel& kernel : kernels_) {
      TraceClass& found = classes[kernel.kernel_class];
      found.name = kernel.kernel_class;
      found.instances += kernel.instances;
      found.total_ns += kernel.total_ns;
      report.kernel_ns += kernel.total_ns;
      report.kernel_instances += kernel.instances;
    }
    for (TraceKernel& kernel : kernels_) order_parts(kernel);
    for (auto& [name, found] : classes) report.classes.push_back(std::move(found));
    order(report.classes, [](const TraceClass& row) -> const std::string& { return row.name; });
    order(kernels_, [](const TraceKernel& row) -> const std::string& { return row.name.full; });
    report.kernels = std::move(kernels_);
  }

 private:
  /// Rows are by shape and operator: each shape may come several times, and each operator.
  void add_shape(const timeline::KernelRow& row, TraceKernel& kernel) const {
    std::optional<LaunchShape> shape;
    if (row.shape != kNoRow) shape = timeline_.shapes[row.shape];
    auto found = std::find_if(kernel.shapes.begin(), kernel.shapes.end(),
                              [&](const auto& known) { return known.shape == shape; });
    if (found == kernel.shapes.end()) {
      found = kernel.shapes.insert(found, TraceKernel::Shape{shape, 0, 0});
    }
    found->instances += row.instances;
    found->total_ns += row.total_ns;
  }

  static void add_launcher(const timeline::KernelRow& row, TraceKernel& kernel) {
    auto found = std::find_if(kernel.launchers.begin(), kernel.launchers.end(),
                              [&](const auto& known) { return known.op == row.op; });
    if (found == kernel.launchers.end()) {
      found = kernel.launchers.insert(found, TraceKernel::Launcher{row.op, 0, 0});
    }
    found->instances += row.instances;
    found->total_ns += row.total_ns;
  }

  void order_parts(TraceKernel& kernel) const {
    std::stable_sort(kernel.shapes.begin(), kernel.shapes.end(),
                     [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
    order(kernel.launchers, [&](const TraceKernel::Launcher& row) -> const std::string& {
      return timeline_.names.text(row.op);
    });
  }

  TraceKernel& kernel_of(Names::Id id) {
    const auto known = by_id_.find(id);
    if (known != by_id_.end()) return kernels_[known->second];
    kernels::CanonicalName name = kernels::canonical_name(timeline_.names.text(id));
    const auto [place, is_new] = by_name_.try_emplace(name.full, kernels_.size());
    if (is_new) {
      TraceKernel kernel;
      kernel.kernel_class = classes_.class_of(name);
      kernel.name = std::move(name);
      kernels_.push_back(std::move(kernel));
    }
    by_id_.emplace(id, place->second);
    return kernels_[place->second];
  }

  const Timeline& timeline_;
  const kernels::Classifier& classes_;
  std::vector<TraceKernel> kernels_;
  std::unordered_map<Names::Id, std::size_t> by_id_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

TraceLaunches launches_of(const Timeline& timeline) {
  TraceLaunches launches;
  for (const HostCall& call : timeline.calls) {
    const bool is_graph = call.kind == CallKind::GraphLaunch;
    if (is_graph || call.kind == CallKind::Launch) ++launches.calls;
    if (is_graph) ++launches.graph_calls;
  }
  for (const DeviceWork& work : timeline.work) {
    if (work.kind != WorkKind::Kernel) continue;
    ++launches.kernels;
    const bool by_graph =
        work.graph_node != 0 ||
        (work.launch != kNoRow && timeline.calls[work.launch].kind == CallKind::GraphLaunch);
    if (by_graph) ++launches.graph_kernels;
  }
  return launches;
}

}  // namespace

Result<TraceReport> trace_report(const Timeline& timeline, const kernels::Classifier& classes,
                                 const TraceReportOptions& options) {
  TraceReport report;
  report.timeline = &timeline;
  report.range = options.range;
  const timeline::Attribution attribution = timeline::Attribution::of(timeline);
  timeline::AccountingOptions accounting;
  accounting.is_collective = [&](std::string_view name) {
    return classes.class_of(kernels::canonical_name(name)) == "collective";
  };
  accounting.focus = options.range;
  report.accounting = timeline::account(timeline, attribution, accounting);
  if (options.range && !report.accounting.focus) {
    return no_such_range(timeline.source, report.accounting, *options.range);
  }
  timeline::KernelTableOptions table;
  table.by_shape = true;
  table.by_operator = true;
  table.inside = options.range;
  table.attribution = &attribution;
  Kernels kernels(timeline, classes);
  for (const timeline::KernelRow& row : timeline::kernel_table(timeline, table).rows) {
    kernels.add(row);
  }
  kernels.give(report);
  report.copy_instances = static_cast<std::uint64_t>(
      std::count_if(timeline.work.begin(), timeline.work.end(), [](const DeviceWork& work) {
        return work.kind == WorkKind::Copy || work.kind == WorkKind::Fill;
      }));
  report.copies = timeline::transfer_table(timeline, {options.range, &attribution});
  report.collectives = timeline::collective_table(timeline, {options.range, &attribution});
  report.operator_order = options.operator_order;
  report.operators = operators::operator_table(
      timeline, {.order = options.operator_order, .inside = options.range});
  report.launches = launches_of(timeline);
  return report;
}

}  // namespace profline
