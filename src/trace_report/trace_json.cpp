#include <algorithm>

#include "trace_report/report.h"

namespace profline::trace_report {
namespace {

using timeline::CollectiveRow;
using timeline::DeviceTime;
using timeline::TransferRow;

Node number(std::int64_t value) {
  return Node::integer(value);
}
Node count(std::uint64_t value) {
  return Node::integer(static_cast<std::int64_t>(value));
}
Node text_or_null(std::string_view text) {
  return text.empty() ? Node() : Node::string(std::string(text));
}
Node real_or_null(const std::optional<double>& value) {
  return value ? Node::real(*value) : Node();
}
Node bytes_or_null(std::uint64_t bytes, std::uint64_t sized) {
  return sized > 0 ? count(bytes) : Node();
}

Node triple(const std::vector<std::uint32_t>& numbers) {
  if (numbers.empty()) return {};
  Node list = Node::list();
  for (const std::uint32_t value : numbers) list.as_list().push_back(count(value));
  return list;
}

/// At most `top` rows as a list.
template <typename Rows, typename ToNode>
Node rows_of(const Rows& rows, std::size_t top, ToNode to_node) {
  Node list = Node::list();
  for (std::size_t i = 0; i < std::min(top, rows.size()); ++i) {
    list.as_list().push_back(to_node(rows[i]));
  }
  return list;
}

Node device_time(std::int32_t device, const DeviceTime& time) {
  NodeMap map;
  map.set("device", number(device));
  map.set("wall_ns", number(time.wall_ns()));
  map.set("busy_ns", number(time.busy_ns()));
  map.set("compute_ns", number(time.with_ns(timeline::kCompute)));
  map.set("copy_ns", number(time.with_ns(timeline::kCopy)));
  map.set("communication_ns", number(time.with_ns(timeline::kCommunication)));
  map.set("compute_and_copy_ns", number(time.with_ns(timeline::kCompute | timeline::kCopy)));
  map.set("compute_and_communication_ns",
          number(time.with_ns(timeline::kCompute | timeline::kCommunication)));
  map.set("copy_and_communication_ns",
          number(time.with_ns(timeline::kCopy | timeline::kCommunication)));
  map.set("exposed_communication_ns", number(time.only_ns(timeline::kCommunication)));
  NodeMap idle;
  for (std::size_t cause = 0; cause < timeline::kIdleCauses; ++cause) {
    idle.set(std::string(to_key(static_cast<timeline::IdleCause>(cause))) + "_ns",
             number(time.idle_ns[cause]));
  }
  map.set("idle_ns", number(time.ran_ns[0]));
  map.set("idle", Node::map(std::move(idle)));
  return Node::map(std::move(map));
}

Node device_times(const std::vector<std::int32_t>& devices, const std::vector<DeviceTime>& times) {
  Node list = Node::list();
  for (std::size_t i = 0; i < times.size(); ++i) {
    list.as_list().push_back(device_time(devices[i], times[i]));
  }
  return list;
}

Node spread(const timeline::Spread& of) {
  if (of.count == 0) return {};
  NodeMap map;
  map.set("count", count(of.count));
  map.set("mean_ns", Node::real(of.mean_ns()));
  map.set("min_ns", number(of.min_ns));
  map.set("max_ns", number(of.max_ns));
  map.set("negative", count(of.negative));
  return Node::map(std::move(map));
}

Node launch_figures(const timeline::LaunchFigures& figures,
                    const std::optional<double>& per_token) {
  NodeMap map;
  map.set("launches", count(figures.launches));
  map.set("copy_calls", count(figures.copy_calls));
  map.set("launches_per_token", per_token ? Node::real(*per_token) : Node());
  map.set("gap", spread(figures.gap));
  map.set("delay_from_start", spread(figures.delay_from_start));
  map.set("delay_from_end", spread(figures.delay_from_end));
  return Node::map(std::move(map));
}

Node work_sum(const timeline::WorkSum& sum) {
  NodeMap map;
  map.set("count", count(sum.count));
  map.set("sum_ns", number(sum.sum_ns));
  return Node::map(std::move(map));
}

Node launches(const Launches& all) {
  NodeMap map;
  map.set("calls", count(all.calls));
  map.set("graph_calls", count(all.graph_calls));
  map.set("kernels", count(all.kernels));
  map.set("graph_kernels", count(all.graph_kernels));
  return Node::map(std::move(map));
}

Node gpu_spans_node(const Report& report) {
  const timeline::Accounting& all = report.accounting;
  Node list = Node::list();
  for (std::size_t i = 0; i < all.devices.size(); ++i) {
    NodeMap map;
    map.set("device", Node::integer(all.devices[i]));
    map.set("begin_ns", Node::integer(all.active[i].begin_ns - all.begin_ns));
    map.set("end_ns", Node::integer(all.active[i].end_ns - all.begin_ns));
    map.set("span_ns", Node::integer(all.active[i].length_ns()));
    map.set("busy_ns", Node::integer(all.time[i].busy_ns()));
    list.as_list().push_back(Node::map(std::move(map)));
  }
  return list;
}

Node copies_node(const Report& report, std::size_t top) {
  Node list = Node::list();
  for (std::size_t i = 0; i < std::min(top, report.copies.size()); ++i) {
    const TransferRow& row = report.copies[i];
    NodeMap map;
    map.set("name", Node::string(report.timeline->names.text(row.name)));
    map.set("direction", Node::string(std::string(row.direction)));
    map.set("from", text_or_null(timeline::to_text(row.from)));
    map.set("to", text_or_null(timeline::to_text(row.to)));
    map.set("instances", count(row.instances));
    map.set("total_ns", number(row.total_ns));
    map.set("min_ns", number(row.min_ns));
    map.set("max_ns", number(row.max_ns));
    map.set("bytes", bytes_or_null(row.bytes, row.sized));
    map.set("gb_per_s", real_or_null(row.gigabytes_per_second()));
    list.as_list().push_back(Node::map(std::move(map)));
  }
  return list;
}

Node collectives_node(const Report& report, std::size_t top) {
  Node list = Node::list();
  for (std::size_t i = 0; i < std::min(top, report.collectives.size()); ++i) {
    const CollectiveRow& row = report.collectives[i];
    NodeMap map;
    map.set("name", Node::string(row.name));
    map.set("dtype", text_or_null(row.dtype));
    map.set("group", text_or_null(row.group));
    map.set("ranks", row.ranks > 0 ? count(row.ranks) : Node());
    map.set("instances", count(row.instances));
    map.set("bytes", bytes_or_null(row.bytes, row.sized));
    map.set("in_bytes", bytes_or_null(row.in_bytes, row.sized));
    map.set("out_bytes", bytes_or_null(row.out_bytes, row.sized));
    map.set("kernels", count(row.kernels));
    map.set("total_ns", number(row.total_ns));
    map.set("gb_per_s", real_or_null(row.algorithm_gigabytes_per_second()));
    map.set("bus_gb_per_s", real_or_null(row.bus_gigabytes_per_second()));
    list.as_list().push_back(Node::map(std::move(map)));
  }
  return list;
}

class Document {
 public:
  Document(const Report& report, std::size_t top)
      : report_(report), timeline_(*report.timeline), top_(top) {}

  Node capture() const {
    NodeMap map;
    map.set("source", Node::string(timeline_.source));
    map.set("tool", Node::string(timeline_.tool));
    map.set("wall_ns", number(report_.accounting.wall_ns()));
    map.set("unix_origin_ns",
            timeline_.unix_origin_ns > 0 ? number(timeline_.unix_origin_ns) : Node());
    map.set("rank", timeline_.rank >= 0 ? number(timeline_.rank) : Node());
    map.set("world_size", timeline_.world_size > 0 ? number(timeline_.world_size) : Node());
    map.set("range", report_.range ? Node::string(*report_.range) : Node());
    const timeline::RangeAccount* in_range = report_.range_account();
    map.set("in_range", in_range != nullptr ? range_row(*in_range) : Node());
    map.set("gpus", rows_of(timeline_.gpus, timeline_.gpus.size(), [](const Gpu& gpu) {
              NodeMap row;
              row.set("device", number(gpu.device));
              row.set("name", Node::string(gpu.name));
              row.set("memory_bytes", count(gpu.memory_bytes));
              row.set("multiprocessors", count(gpu.multiprocessors));
              row.set("compute_capability", text_or_null(gpu.compute_capability));
              return Node::map(std::move(row));
            }));
    map.set("accounting", accounting());
    map.set("ranges", rows_of(report_.accounting.ranges, top_,
                              [&](const auto& range) { return range_row(range); }));
    map.set("kernel_classes", rows_of(report_.classes, report_.classes.size(), [](const auto& row) {
              NodeMap entry;
              entry.set("class", Node::string(row.name));
              entry.set("instances", count(row.instances));
              entry.set("total_ns", number(row.total_ns));
              entry.set("exclusive_ns", number(row.exclusive_ns));
              return Node::map(std::move(entry));
            }));
    map.set("kernels", kernels());
    map.set("launches", launches(report_.launches));
    map.set("copies", copies_node(report_, top_));
    map.set("collectives", collectives_node(report_, top_));
    map.set("operators", operators());
    map.set("reading", reading());
    return Node::map(std::move(map));
  }

 private:
  Node accounting() const;
  Node range_row(const timeline::RangeAccount& range) const;
  Node kernels() const;
  Node operators() const;
  Node reading() const;

  const Report& report_;
  const Timeline& timeline_;
  std::size_t top_;
};

Node Document::accounting() const {
  const timeline::Accounting& all = report_.accounting;
  NodeMap map;
  map.set("devices", device_times(all.devices, all.time));
  map.set("gpu_spans", gpu_spans_node(report_));
  map.set("launch", launch_figures(all.launch, all.launches_per_token()));
  map.set("tokens", count(all.tokens));
  map.set("work", work_sum(all.work));
  map.set("kernels", work_sum(all.kernels));
  map.set("without_launch", work_sum(all.without_launch));
  map.set("outside_ranges", work_sum(all.outside_ranges));
  map.set("without_device", work_sum(all.without_device));
  map.set("launches_without_work", count(all.launches_without_work));
  return Node::map(std::move(map));
}

Node Document::range_row(const timeline::RangeAccount& range) const {
  NodeMap map;
  const bool is_sum = &range == report_.range_account();
  map.set("name", Node::string(range.label));
  if (!is_sum) {
    map.set("names", count(range.names));
    map.set("domain", text_or_null(timeline_.names.text(range.domain)));
  }
  map.set("instances", count(range.instances));
  map.set("still_open", count(range.still_open));
  map.set("wall_ns", number(range.wall_ns));
  const auto busy = range.busy_share();
  map.set("mean_busy_share", busy ? Node::real(*busy) : Node());
  map.set("devices", device_times(report_.accounting.devices, range.time));
  Node own = Node::list();
  for (std::size_t i = 0; i < range.own.size(); ++i) {
    NodeMap entry;
    entry.set("device", number(report_.accounting.devices[i]));
    entry.set("busy_ns", number(range.own[i].busy_ns));
    entry.set("inside_ns", number(range.own[i].inside_ns));
    own.as_list().push_back(Node::map(std::move(entry)));
  }
  map.set("own", std::move(own));
  map.set("work", work_sum(range.work));
  if (!is_sum) map.set("direct_work", work_sum(range.direct_work));
  map.set("launch", launch_figures(range.launch, range.launches_per_token()));
  return Node::map(std::move(map));
}

Node Document::kernels() const {
  return rows_of(report_.kernels, top_, [&](const Kernel& kernel) {
    NodeMap map;
    map.set("name", Node::string(kernel.use.name));
    map.set("short_name", Node::string(kernel.use.short_name));
    map.set("class", Node::string(kernel.use.kernel_class));
    map.set("instances", count(kernel.use.launches));
    map.set("total_ns", number(kernel.use.total_ns));
    map.set("exclusive_ns", number(kernel.use.exclusive_ns));
    map.set("alone_ns", number(kernel.use.alone_ns));
    map.set("min_ns", number(kernel.use.min_ns));
    map.set("max_ns", number(kernel.use.max_ns));
    map.set("shapes", rows_of(kernel.shapes, top_, [](const KernelUse& row) {
              const bool is_known = !row.grid.empty();
              NodeMap entry;
              entry.set("grid", triple(row.grid));
              entry.set("block", triple(row.block));
              entry.set("registers_per_thread",
                        is_known ? count(row.registers_per_thread) : Node());
              entry.set("shared_bytes", is_known ? count(row.shared_bytes) : Node());
              entry.set("instances", count(row.launches));
              entry.set("total_ns", number(row.total_ns));
              entry.set("exclusive_ns", number(row.exclusive_ns));
              return Node::map(std::move(entry));
            }));
    map.set("operators", rows_of(kernel.launchers, top_, [](const KernelUse& row) {
              NodeMap entry;
              entry.set("name", text_or_null(row.op));
              entry.set("instances", count(row.launches));
              entry.set("total_ns", number(row.total_ns));
              entry.set("exclusive_ns", number(row.exclusive_ns));
              return Node::map(std::move(entry));
            }));
    return Node::map(std::move(map));
  });
}

Node Document::operators() const {
  return rows_of(report_.operators.rows, top_, [&](const operators::OperatorRow& row) {
    NodeMap map;
    map.set("name", Node::string(timeline_.names.text(row.name)));
    map.set("calls", count(row.calls));
    map.set("self_ns", number(row.self_ns));
    map.set("total_ns", number(row.total_ns));
    map.set("self_device_ns", number(row.self_device_ns));
    map.set("device_ns", number(row.device_ns));
    map.set("launched", count(row.launched));
    return Node::map(std::move(map));
  });
}

Node Document::reading() const {
  const Reading& reading = timeline_.reading;
  const auto texts = [](const std::vector<std::string>& lines) {
    Node list = Node::list();
    for (const std::string& line : lines) list.as_list().push_back(Node::string(line));
    return list;
  };
  NodeMap map;
  map.set("events", count(reading.events()));
  map.set("used", count(reading.used));
  map.set("skipped", rows_of(reading.skipped, reading.skipped.size(), [](const auto& entry) {
            NodeMap row;
            row.set("reason", Node::string(entry.reason));
            row.set("count", count(entry.count));
            row.set("first", Node::string(entry.first_position));
            return Node::map(std::move(row));
          }));
  map.set("notes", texts(reading.notes));
  map.set("losses", texts(reading.losses));
  return Node::map(std::move(map));
}

}  // namespace

Node trace_document(std::span<const Report> reports, std::size_t top) {
  NodeMap document;
  document.set("schema", Node::string("profline.trace/1"));
  Node captures = Node::list();
  for (const Report& report : reports) {
    captures.as_list().push_back(Document(report, top).capture());
  }
  document.set("captures", std::move(captures));
  return Node::map(std::move(document));
}

}  // namespace profline::trace_report
