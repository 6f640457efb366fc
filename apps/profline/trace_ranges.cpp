#include "trace_ranges.h"

#include <fmt/core.h>

#include "trace_words.h"

namespace profline {
namespace {

using timeline::ActiveSpan;
using Align = TextTable::Align;

std::string heading(std::string_view title, std::string_view more, const Palette& palette) {
  return '\n' + palette.heading(title) + "  " + palette.faint(more) + '\n';
}

std::string range_name(const TraceReport& report, const timeline::RangeAccount& range) {
  std::string name = range.label;
  const std::string& domain = report.timeline->names.text(range.domain);
  if (!domain.empty()) name += " @" + domain;
  if (range.still_open > 0) name += fmt::format(" ({} not closed)", range.still_open);
  return name;
}

std::string ranges_legend(std::size_t devices) {
  if (devices < 2) return "GPU busy: while the range was open; own: GPU time launched in it";
  return fmt::format(
      "GPU busy: while the range was open, mean of {0} GPUs; own: GPU time launched in it, sum of "
      "{0} GPUs",
      devices);
}

}  // namespace

std::string gpu_spans_text(const TraceReport& report, std::size_t width, const Palette& palette) {
  const timeline::Accounting& all = report.accounting;
  if (all.devices.empty() || report.range) return "";
  TextTable table({{"device", Align::Left}, {"from"}, {"to"}, {"span"}, {"busy"}, {"of span"}});
  const auto add = [&](const std::string& device, const ActiveSpan& span, std::int64_t busy_ns,
                       std::int64_t of_ns) {
    table.add({device, duration(span.begin_ns - all.begin_ns), duration(span.end_ns - all.begin_ns),
               duration(span.length_ns()), duration(busy_ns), percent(busy_ns, of_ns)});
  };
  std::int64_t busy_ns = 0;
  for (std::size_t i = 0; i < all.devices.size(); ++i) {
    const std::int64_t own_ns = all.time[i].busy_ns();
    busy_ns += own_ns;
    add(fmt::format("GPU {}", all.devices[i]), all.active[i], own_ns, all.active[i].length_ns());
  }
  if (all.devices.size() > 1) {
    const auto devices = static_cast<std::int64_t>(all.devices.size());
    const ActiveSpan span = all.active_of_all();
    add(fmt::format("mean of {}", devices), span, busy_ns / devices, span.length_ns());
  }
  return heading("GPU span", "from the first to the last activity of the device", palette) +
         table.render(width, palette);
}

std::string ranges_text(const TraceReport& report, std::size_t top, std::size_t width,
                        const Palette& palette) {
  const timeline::Accounting& all = report.accounting;
  if (all.ranges.empty()) return "";
  TextTable table({{"range", Align::Left, true},
                   {"count"},
                   {"host time"},
                   {"GPU busy"},
                   {"own"},
                   {"launches", Align::Right, false, 1},
                   {"kernels", Align::Right, false, 2}});
  std::size_t shown = 0;
  for (const timeline::RangeAccount& range : all.ranges) {
    if (shown++ == top) break;
    std::int64_t own_ns = 0;
    for (const timeline::OwnTime& own : range.own) own_ns += own.busy_ns;
    table.add({range_name(report, range), std::to_string(range.instances), duration(range.wall_ns),
               percent(range.busy_share()), duration(own_ns), std::to_string(range.launch.launches),
               std::to_string(range.work.count)});
  }
  std::string out = heading("ranges", ranges_legend(all.devices.size()), palette);
  out += table.render(width, palette);
  if (all.ranges.size() > top) {
    out += palette.faint(fmt::format("  and {} more\n", all.ranges.size() - top));
  }
  if (all.outside_ranges.count > 0) {
    out += "  " + counted(all.outside_ranges.count, "piece", "pieces") + " of work (" +
           duration(all.outside_ranges.sum_ns) + ") in no range\n";
  }
  return out;
}

Node gpu_spans_node(const TraceReport& report) {
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

}  // namespace profline
