#include "trace_copies.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/terminal_text.h"
#include "trace_words.h"

namespace profline {
namespace {

using timeline::CollectiveRow;
using timeline::TransferRow;
using Align = TextTable::Align;

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

std::string bytes_text(std::uint64_t bytes, std::uint64_t sized) {
  return sized > 0 ? human_bytes(bytes) : "-";
}

std::string or_dash(std::string text) {
  return text.empty() ? "-" : std::move(text);
}

/// `pinned -> device`; of a fill `device`; nothing where neither side is known.
std::string memory_of(const TransferRow& row) {
  const std::string from(timeline::to_text(row.from));
  const std::string to(timeline::to_text(row.to));
  if (from.empty()) return to;
  return from + " -> " + (to.empty() ? "?" : to);
}

std::string heading(const TraceReport& report, std::string_view title, std::string more,
                    const Palette& palette) {
  if (report.range) {
    const std::string in = "in '" + printable(*report.range) + "'";
    more = more.empty() ? in : in + "; " + more;
  }
  std::string line = '\n' + palette.heading(title);
  if (!more.empty()) line += "  " + palette.faint(more);
  return line + '\n';
}

std::string rest(std::size_t all, std::size_t top, const Palette& palette) {
  return all > top ? palette.faint(fmt::format("  and {} more\n", all - top)) : "";
}

}  // namespace

std::string copies_text(const TraceReport& report, std::size_t top, std::size_t width,
                        const Palette& palette) {
  if (report.copies.empty()) return "";
  TextTable table({{"time"},
                   {"count"},
                   {"mean", Align::Right, false, 1},
                   {"bytes"},
                   {"GB/s"},
                   {"direction", Align::Left},
                   {"memory", Align::Left, false, 2},
                   {"what", Align::Left, true}});
  for (std::size_t i = 0; i < std::min(top, report.copies.size()); ++i) {
    const TransferRow& row = report.copies[i];
    table.add({duration(row.total_ns), std::to_string(row.instances),
               human_duration(FractionalNanoseconds(row.mean_ns())),
               bytes_text(row.bytes, row.sized), gigabytes_per_second(row.gigabytes_per_second()),
               std::string(row.direction), or_dash(memory_of(row)),
               report.timeline->names.text(row.name)});
  }
  return heading(report, "copies and fills", "GB/s: while they ran", palette) +
         table.render(width, palette) + rest(report.copies.size(), top, palette);
}

std::string collectives_text(const TraceReport& report, std::size_t top, std::size_t width,
                             const Palette& palette) {
  if (report.collectives.empty()) return "";
  TextTable table({{"time"},
                   {"count"},
                   {"bytes"},
                   {"GB/s"},
                   {"bus GB/s"},
                   {"ranks", Align::Right, false, 1},
                   {"type", Align::Left, false, 2},
                   {"group", Align::Left, false, 3},
                   {"collective", Align::Left, true}});
  for (std::size_t i = 0; i < std::min(top, report.collectives.size()); ++i) {
    const CollectiveRow& row = report.collectives[i];
    table.add({row.kernels > 0 ? duration(row.total_ns) : "-", std::to_string(row.instances),
               bytes_text(row.bytes, row.sized),
               gigabytes_per_second(row.algorithm_gigabytes_per_second()),
               gigabytes_per_second(row.bus_gigabytes_per_second()),
               row.ranks > 0 ? std::to_string(row.ranks) : "-", or_dash(row.dtype),
               or_dash(row.group), row.name});
  }
  return heading(report, "collectives", "kernel time includes waiting for other ranks", palette) +
         table.render(width, palette) + rest(report.collectives.size(), top, palette);
}

Node copies_node(const TraceReport& report, std::size_t top) {
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

Node collectives_node(const TraceReport& report, std::size_t top) {
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

}  // namespace profline
