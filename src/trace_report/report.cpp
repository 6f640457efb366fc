#include "trace_report/report.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/core.h>

#include "analysis/kernels/canonical_name.h"
#include "analysis/timeline/group_kernels.h"
#include "base/strings.h"

namespace profline::trace_report {
namespace {

/// Most time first; ties by name.
template <typename Row, typename NameOf>
void order(std::vector<Row>& rows, NameOf name_of) {
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : name_of(a) < name_of(b);
  });
}

/// The rows of one kernel, split by one key.
std::vector<KernelUse> parts_of(const std::vector<KernelUse>& rows,
                                const timeline::KernelKeys& keys) {
  std::vector<KernelUse> parts;
  for (timeline::KernelGroup& group : timeline::group_kernels(rows, keys)) {
    parts.push_back(std::move(group.all));
  }
  return parts;
}

Kernel kernel_of(timeline::KernelGroup group, const std::vector<KernelUse>& all) {
  std::vector<KernelUse> rows;
  for (const std::size_t member : group.members) rows.push_back(all[member]);
  Kernel kernel;
  kernel.use = std::move(group.all);
  kernel.shapes = parts_of(rows, {.shape = timeline::KernelKeys::Shape::Whole});
  std::stable_sort(kernel.shapes.begin(), kernel.shapes.end(),
                   [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  kernel.launchers = parts_of(rows, {.op = true});
  order(kernel.launchers, [](const KernelUse& row) -> const std::string& { return row.op; });
  return kernel;
}

void add_kernels(const timeline::KernelUses& uses, Report& report) {
  report.kernel_ns = uses.total_ns;
  report.kernel_instances = uses.launches;
  std::map<std::string, KernelClass> classes;
  for (timeline::KernelGroup& group : timeline::group_kernels(uses.rows, {})) {
    report.kernels.push_back(kernel_of(std::move(group), uses.rows));
    const KernelUse& kernel = report.kernels.back().use;
    KernelClass& found = classes[kernel.kernel_class];
    found.name = kernel.kernel_class;
    found.instances += kernel.launches;
    found.total_ns += kernel.total_ns;
  }
  for (auto& [name, found] : classes) report.classes.push_back(std::move(found));
  order(report.classes, [](const KernelClass& row) -> const std::string& { return row.name; });
  std::sort(report.kernels.begin(), report.kernels.end(), [](const Kernel& a, const Kernel& b) {
    return std::tie(b.use.total_ns, a.use.name) < std::tie(a.use.total_ns, b.use.name);
  });
}

Launches launches_of(const Timeline& timeline) {
  Launches launches;
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

constexpr std::size_t kMostListed = 10;

/// Longest wall time first, each name once regardless of its domain.
std::vector<std::string> labels_of(const timeline::Accounting& accounting) {
  std::vector<std::string> labels;
  std::set<std::string_view> known;
  for (const timeline::RangeAccount& range : accounting.ranges) {
    if (known.insert(range.label).second) labels.push_back(range.label);
  }
  return labels;
}

std::vector<std::string> nearest_first(const std::string& pattern,
                                       const std::vector<std::string>& labels) {
  std::vector<std::string> order = nearest(pattern, labels, kMostListed);
  for (const std::string& label : labels) {
    if (order.size() == kMostListed) break;
    if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
  }
  return order;
}

/// The Error that a capture has no range matching `pattern`, with at most ten ranges that it has:
/// the most similar first, then by time.
Error no_such_range(const std::string& source, const timeline::Accounting& accounting,
                    const std::string& pattern) {
  const std::vector<std::string> labels = labels_of(accounting);
  if (labels.empty()) {
    return {ErrorKind::NotFound,
            fmt::format("{} has no ranges, so --range '{}' matches nothing", source, pattern)};
  }
  std::vector<std::string> listed = nearest_first(pattern, labels);
  for (std::string& label : listed) label = '\'' + label + '\'';
  std::string names = join(listed, ", ");
  if (labels.size() > listed.size()) {
    names += fmt::format(" and {} more", labels.size() - listed.size());
  }
  return {ErrorKind::NotFound,
          fmt::format("{} has no range that matches '{}'; it has {}", source, pattern, names)};
}

}  // namespace

Result<Report> make_report(const Timeline& timeline, const kernels::Classifier& classes,
                           const Options& options) {
  Report report;
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
  const timeline::KernelKeys keys{.shape = timeline::KernelKeys::Shape::Whole, .op = true};
  add_kernels(timeline::group_kernels(
                  timeline, keys,
                  {.inside = options.range, .attribution = &attribution, .classes = &classes}),
              report);
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

}  // namespace profline::trace_report
