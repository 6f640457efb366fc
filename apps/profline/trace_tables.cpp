#include <algorithm>

#include <fmt/core.h>

#include "analysis/timeline/accounting.h"
#include "analysis/timeline/transfers.h"
#include "base/figures.h"
#include "base/terminal_text.h"
#include "trace_text.h"

namespace profline {
namespace {

using timeline::ActiveSpan;
using timeline::CollectiveRow;
using timeline::TransferRow;
using trace_report::Report;
using Align = TextTable::Align;

std::string bytes_text(std::uint64_t bytes, std::uint64_t sized) {
  return sized > 0 ? human_bytes(bytes) : "–";
}

/// `pinned -> device`; for a fill `device`; nothing if neither side is known.
std::string memory_of(const TransferRow& row) {
  const std::string from(timeline::to_text(row.from));
  const std::string to(timeline::to_text(row.to));
  if (from.empty()) return to;
  return from + " -> " + (to.empty() ? "?" : to);
}

std::string heading(std::string_view title, std::string_view more, const Palette& palette) {
  std::string line = '\n' + palette.heading(title);
  if (!more.empty()) line += "  " + palette.faint(more);
  return line + '\n';
}

/// For a table that is restricted to the ranges of the report.
std::string heading_in(const Report& report, std::string_view title, std::string more,
                       const Palette& palette) {
  if (report.range) more = "in '" + printable(*report.range) + "'; " + more;
  return heading(title, more, palette);
}

std::string rest(std::size_t all, std::size_t top, const Palette& palette) {
  return all > top ? palette.faint(fmt::format("  and {} more\n", all - top)) : "";
}

std::string range_name(const Report& report, const timeline::RangeAccount& range) {
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

std::string gpu_spans_text(const Report& report, std::size_t width, const Palette& palette) {
  const timeline::Accounting& all = report.accounting;
  if (all.devices.empty() || report.range) return "";
  TextTable table({{"device", Align::Left}, {"from"}, {"to"}, {"span"}, {"busy"}, {"of span"}});
  const auto add = [&](const std::string& device, const ActiveSpan& span, std::int64_t busy_ns,
                       std::int64_t of_ns) {
    table.add({device, duration(span.begin_ns - all.begin_ns), duration(span.end_ns - all.begin_ns),
               duration(span.length_ns()), duration(busy_ns), percent_of(busy_ns, of_ns)});
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

std::string ranges_text(const Report& report, std::size_t top, std::size_t width,
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
    const std::optional<double> busy = range.busy_share();
    table.add({range_name(report, range), std::to_string(range.instances), duration(range.wall_ns),
               percent(busy), duration(own_ns), std::to_string(range.launch.launches),
               std::to_string(range.work.count)});
  }
  std::string out = heading("ranges", ranges_legend(all.devices.size()), palette);
  out += table.render(width, palette);
  out += rest(all.ranges.size(), top, palette);
  if (all.outside_ranges.count > 0) {
    out += "  " + counted(all.outside_ranges.count, "piece", "pieces") + " of work (" +
           duration(all.outside_ranges.sum_ns) + ") in no range\n";
  }
  return out;
}

std::string copies_text(const Report& report, std::size_t top, std::size_t width,
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
    table.add({duration(row.total_ns), std::to_string(row.instances), duration(row.mean_ns()),
               bytes_text(row.bytes, row.sized), plain_number(row.gigabytes_per_second()),
               std::string(row.direction), or_dash(memory_of(row)),
               report.timeline->names.text(row.name)});
  }
  return heading_in(report, "copies and fills", "GB/s: while they ran", palette) +
         table.render(width, palette) + rest(report.copies.size(), top, palette);
}

std::string collectives_text(const Report& report, std::size_t top, std::size_t width,
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
    table.add({row.kernels > 0 ? duration(row.total_ns) : "–", std::to_string(row.instances),
               bytes_text(row.bytes, row.sized), plain_number(row.algorithm_gigabytes_per_second()),
               plain_number(row.bus_gigabytes_per_second()),
               row.ranks > 0 ? std::to_string(row.ranks) : "–", or_dash(row.dtype),
               or_dash(row.group), row.name});
  }
  return heading_in(report, "collectives", "kernel time includes waiting for other ranks",
                    palette) +
         table.render(width, palette) + rest(report.collectives.size(), top, palette);
}

}  // namespace profline
