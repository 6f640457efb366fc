#include "trace_text.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "analysis/kernels/canonical_name.h"
#include "base/figures.h"
#include "base/strings.h"
#include "base/terminal_text.h"

namespace profline {
namespace {

using timeline::DeviceTime;
using timeline::IdleCause;
using trace_report::Kernel;
using trace_report::KernelClass;
using trace_report::Launches;
using trace_report::Report;
using Align = TextTable::Align;

/// Narrower kernel tables leave out the operators.
constexpr std::size_t kWidthForOperators = 112;

/// The heading of the column that a table of kernels is ranked by.
std::string time_title(KernelRanking ranking) {
  return ranking.by_exclusive ? "exclusive" : "time";
}

class TraceText {
 public:
  TraceText(const Report& report, std::size_t top, std::size_t width, const Palette& palette)
      : report_(report), timeline_(*report.timeline), top_(top), width_(width), palette_(palette) {}

  std::string run() {
    summary();
    devices();
    out_ += gpu_spans_text(report_, width_, palette_);
    launches();
    out_ += ranges_text(report_, top_, width_, palette_);
    classes();
    kernels();
    out_ += copies_text(report_, top_, width_, palette_);
    out_ += collectives_text(report_, top_, width_, palette_);
    operators();
    reading();
    return std::move(out_);
  }

 private:
  void heading(std::string_view title, std::string_view more = {}) {
    out_ += '\n' + palette_.heading(title);
    if (!more.empty()) out_ += "  " + palette_.faint(more);
    out_ += '\n';
  }
  void show(const TextTable& table) { out_ += table.render(width_, palette_); }
  /// What is not shown of a table.
  void rest(std::size_t all) {
    if (all > top_) out_ += palette_.faint(fmt::format("  and {} more\n", all - top_));
  }
  std::string in_range() const {
    return report_.range ? "in '" + printable(*report_.range) + "'" : "";
  }
  const std::vector<DeviceTime>& times() const {
    return report_.range_account() != nullptr ? report_.range_account()->time
                                              : report_.accounting.time;
  }
  std::int64_t wall_ns() const {
    return report_.range_account() != nullptr ? report_.range_account()->wall_ns
                                              : report_.accounting.wall_ns();
  }

  void summary();
  void devices();
  void device_rows(TextTable& table, const std::string& device, const DeviceTime& time) const;
  void launches();
  std::string launch_calls(std::uint64_t calls) const;
  std::string launcher_of(const Kernel& kernel) const;
  void classes();
  void kernels();
  void operators();
  void reading();

  const Report& report_;
  const Timeline& timeline_;
  std::size_t top_;
  std::size_t width_;
  const Palette& palette_;
  std::string out_;
};

void TraceText::summary() {
  out_ += palette_.heading(printable(timeline_.source)) + '\n';
  std::string line = timeline_.tool + ", " + duration(report_.accounting.wall_ns());
  if (timeline_.rank >= 0) {
    line += fmt::format(", rank {}", timeline_.rank);
    if (timeline_.world_size > 0) line += fmt::format(" of {}", timeline_.world_size);
  }
  for (const Gpu& gpu : timeline_.gpus) {
    const auto& used = report_.accounting.devices;
    if (std::find(used.begin(), used.end(), gpu.device) == used.end()) continue;
    line += fmt::format(", GPU {}: {}", gpu.device, printable(gpu.name));
  }
  out_ += "  " + line + '\n';
  out_ += "  " + counted(timeline_.operators.size(), "operator", "operators") + ", " +
          counted(timeline_.calls.size(), "call", "calls") + ", " +
          counted(report_.accounting.kernels.count, "kernel", "kernels") + " (" +
          duration(report_.accounting.kernels.sum_ns) + "), " +
          counted(report_.copy_instances, "copy or fill", "copies and fills") + ", " +
          counted(timeline_.ranges.size(), "range", "ranges") + '\n';
  if (report_.range_account() != nullptr) {
    out_ += "  only what happened in " +
            counted(report_.range_account()->instances, "instance", "instances") + " of range '" +
            printable(*report_.range) + "', " + duration(wall_ns()) + '\n';
  }
}

void TraceText::device_rows(TextTable& table, const std::string& device,
                            const DeviceTime& time) const {
  const auto row = [&](const std::string& of, const std::string& what, std::int64_t ns) {
    table.add({of, what, duration(ns), percent_of(ns, time.wall_ns())});
  };
  row(device, "busy", time.busy_ns());
  row("", "  compute", time.with_ns(timeline::kCompute));
  row("", "  copy", time.with_ns(timeline::kCopy));
  row("", "  communication", time.with_ns(timeline::kCommunication));
  const std::int64_t parts = time.with_ns(timeline::kCompute) + time.with_ns(timeline::kCopy) +
                             time.with_ns(timeline::kCommunication);
  if (parts > time.busy_ns()) row("", "  less overlap of these", time.busy_ns() - parts);
  row("", "idle", time.ran_ns[0]);
  for (std::size_t cause = 0; cause < timeline::kIdleCauses; ++cause) {
    if (time.idle_ns[cause] == 0) continue;
    row("", "  " + std::string(to_text(static_cast<IdleCause>(cause))), time.idle_ns[cause]);
  }
}

void TraceText::devices() {
  if (times().empty()) {
    heading("devices");
    out_ += "  no device work in this capture\n";
    return;
  }
  heading("devices", "where the " + duration(wall_ns()) + " went; busy and idle sum to it");
  TextTable table({{"device", Align::Left}, {"", Align::Left}, {"time"}, {"of wall"}});
  for (std::size_t i = 0; i < times().size(); ++i) {
    device_rows(table, fmt::format("GPU {}", report_.accounting.devices[i]), times()[i]);
  }
  show(table);
}

/// `5 launches by the host, all of CUDA graphs; 425 kernels ran`: a graph is one launch and many
/// kernels, so the two numbers may differ widely.
std::string TraceText::launch_calls(std::uint64_t calls) const {
  const Launches& all = report_.launches;
  const bool is_whole = report_.range_account() == nullptr;
  const auto of_graphs = [&](std::uint64_t part, std::uint64_t whole, std::string_view what) {
    if (!is_whole || part == 0) return std::string();
    const std::string how_many = part == whole ? "all" : std::to_string(part);
    return fmt::format(", {} {}", how_many, what);
  };
  return counted(calls, "launch by the host", "launches by the host") +
         of_graphs(all.graph_calls, calls, "of CUDA graphs") + "; " +
         counted(report_.kernel_instances, "kernel", "kernels") + " ran" +
         of_graphs(all.graph_kernels, all.kernels, "in graphs");
}

void TraceText::launches() {
  const timeline::LaunchFigures& figures = report_.range_account() != nullptr
                                               ? report_.range_account()->launch
                                               : report_.accounting.launch;
  if (figures.launches + figures.copy_calls == 0) return;
  heading("launches", in_range());
  out_ += "  " + launch_calls(figures.launches) + "; " +
          counted(figures.copy_calls, "copy or fill", "copies and fills");
  const auto per_token = report_.range_account() != nullptr
                             ? report_.range_account()->launches_per_token()
                             : report_.accounting.launches_per_token();
  if (per_token) out_ += "; " + counted_mean(*per_token, "launch") + " per token";
  out_ += '\n';
  const auto mean = [](const timeline::Spread& spread) { return duration(spread.mean_ns()); };
  if (figures.gap.count > 0) {
    out_ += "  gap between launches of a thread: mean " + mean(figures.gap);
    if (report_.range_account() == nullptr) {
      out_ += ", median " + duration(report_.accounting.gap.median_ns) + ", p99 " +
              duration(report_.accounting.gap.p99_ns);
    }
    out_ += '\n';
  }
  if (figures.delay_from_start.count > 0) {
    out_ += "  from launch to start of the work: mean " + mean(figures.delay_from_start);
    if (report_.range_account() == nullptr) {
      out_ += ", median " + duration(report_.accounting.delay.median_ns) + ", p99 " +
              duration(report_.accounting.delay.p99_ns);
    }
    out_ += '\n';
  }
}

void TraceText::classes() {
  if (report_.classes.empty()) return;
  heading("kernel classes", in_range());
  const KernelRanking ranking = report_.ranking();
  TextTable table({{"class", Align::Left}, {time_title(ranking)}, {"share"}, {"count"}});
  for (const KernelClass& row : report_.classes) {
    table.add({row.name, duration(ranking.ns(row)),
               percent_of(ranking.ns(row), ranking.ns(report_)), std::to_string(row.instances)});
  }
  show(table);
}

/// The operator that launched most of it, and the number of others: `aten::mm +2`. Kernel names
/// need the space more: 24 columns of 120.
std::string TraceText::launcher_of(const Kernel& kernel) const {
  const std::size_t widest = std::clamp<std::size_t>(width_, kWidthForOperators, 128) - 96;
  if (kernel.launchers.empty() || kernel.launchers.front().op.empty()) return "–";
  std::string name = printable(kernel.launchers.front().op);
  const std::size_t others = kernel.launchers.size() - 1;
  const std::string more = others > 0 ? fmt::format(" +{}", others) : "";
  return fit_width(name, widest - more.size()) + more;
}

void TraceText::kernels() {
  if (report_.kernels.empty()) return;
  const bool has_operators = !timeline_.operators.empty() && width_ >= kWidthForOperators;
  std::vector<std::string> notes;
  if (report_.range) notes.push_back(in_range());
  if (has_operators) notes.emplace_back("with the operator that launched most of each");
  if (report_.ranking().by_exclusive) {
    notes.push_back(fmt::format("by exclusive time: durations of {} kept the GPU busy for {}",
                                duration(report_.total_ns), duration(report_.exclusive_ns)));
  }
  heading("kernels", join(notes, ", "));
  const KernelRanking ranking = report_.ranking();
  std::vector<TextTable::Column> columns = {{time_title(ranking)},
                                            {"share"},
                                            {"count"},
                                            {"mean", Align::Right, false, 1},
                                            {"shapes", Align::Right, false, 2},
                                            {"class", Align::Left}};
  if (has_operators) columns.push_back({"operator", Align::Left});
  columns.push_back({"kernel", Align::Left, true});
  TextTable table(std::move(columns));
  std::map<std::string_view, int> short_names;
  for (const Kernel& kernel : report_.kernels) ++short_names[kernel.use.short_name];
  for (std::size_t i = 0; i < std::min(top_, report_.kernels.size()); ++i) {
    const Kernel& kernel = report_.kernels[i];
    const bool is_enough = short_names[kernel.use.short_name] == 1;
    std::vector<std::string> cells = {duration(ranking.ns(kernel.use)),
                                      percent_of(ranking.ns(kernel.use), ranking.ns(report_)),
                                      std::to_string(kernel.use.launches),
                                      duration(kernel.use.mean_ns()),
                                      std::to_string(kernel.shapes.size()),
                                      kernel.use.kernel_class};
    if (has_operators) cells.push_back(launcher_of(kernel));
    cells.push_back(is_enough ? kernel.use.short_name
                              : kernels::canonical_name(kernel.use.name).key);
    table.add(std::move(cells));
  }
  show(table);
  rest(report_.kernels.size());
}

std::string_view order_text(operators::OperatorOrder order) {
  switch (order) {
    case operators::OperatorOrder::Total:
      return "by total host time";
    case operators::OperatorOrder::SelfDevice:
      return "by self time on the GPU";
    case operators::OperatorOrder::Device:
      return "by total GPU time";
    case operators::OperatorOrder::Calls:
      return "by number of calls";
    case operators::OperatorOrder::Self:
      break;
  }
  return "by self time on the host";
}

void TraceText::operators() {
  if (report_.operators.rows.empty()) return;
  heading("operators", (report_.range ? in_range() + ", " : "") +
                           std::string(order_text(report_.operator_order)));
  const bool by_device = report_.operator_order == operators::OperatorOrder::SelfDevice ||
                         report_.operator_order == operators::OperatorOrder::Device;
  // The share refers to the preceding column.
  using Columns = std::vector<TextTable::Column>;
  Columns columns = by_device
                        ? Columns{{"GPU self"}, {"share"}, {"GPU total"}, {"self"}, {"total"}}
                        : Columns{{"self"}, {"share"}, {"total"}, {"GPU self"}, {"GPU total"}};
  columns.back().spare = 1;
  columns.push_back({"calls"});
  columns.push_back({"operator", Align::Left, true});
  TextTable table(std::move(columns));
  const operators::OperatorTable& all = report_.operators;
  for (std::size_t i = 0; i < std::min(top_, all.rows.size()); ++i) {
    const operators::OperatorRow& row = all.rows[i];
    const std::string self = duration(row.self_ns);
    const std::string total = duration(row.total_ns);
    const std::string gpu_self = duration(row.self_device_ns);
    const std::string gpu_total = duration(row.device_ns);
    const std::string calls = std::to_string(row.calls);
    const std::string& name = timeline_.names.text(row.name);
    if (by_device) {
      const std::string of_all = percent_of(row.self_device_ns, all.self_device_ns);
      table.add({gpu_self, of_all, gpu_total, self, total, calls, name});
    } else {
      table.add(
          {self, percent_of(row.self_ns, all.self_ns), total, gpu_self, gpu_total, calls, name});
    }
  }
  show(table);
  rest(report_.operators.rows.size());
}

void TraceText::reading() {
  const Reading& reading = timeline_.reading;
  heading("reading");
  out_ += fmt::format("  {}: {} used, {} skipped\n", counted(reading.events(), "event"),
                      reading.used, reading.events() - reading.used);
  for (const Reading::Skipped& entry : reading.skipped) {
    out_ += fmt::format("  {:>10}  {}\n", entry.count, printable(entry.reason));
  }
  const timeline::Accounting& all = report_.accounting;
  if (all.without_launch.count > 0 && reading.notes.empty()) {
    out_ += "  " + counted(all.without_launch.count, "piece", "pieces") +
            " of work without a record of the launch\n";
  }
  for (const std::string& note : reading.notes) {
    out_ += "  " + palette_.accent("note") + "  " + printable(note) + '\n';
  }
  for (const std::string& loss : reading.losses) {
    out_ += "  " + palette_.warning("lost") + "  " + printable(loss) + '\n';
  }
}

}  // namespace

std::string trace_text(const Report& report, std::size_t top, std::size_t width,
                       const Palette& palette) {
  return TraceText(report, top, width, palette).run();
}

}  // namespace profline
