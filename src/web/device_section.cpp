#include <array>

#include <fmt/format.h>

#include "base/figures.h"
#include "web/sections.h"
#include "web/table.h"

namespace profline::web {
namespace {

struct Cause {
  const char* name;
  const char* hint;
  std::int64_t IdleTime::*ns;
};
/// docs/timeline.md has the rules.
constexpr std::array kCauses = {
    Cause{"launching", "a launch was under way", &IdleTime::launching_ns},
    Cause{"queued", "work was queued and had not begun", &IdleTime::queued_ns},
    Cause{"host between", "the host was between two calls", &IdleTime::host_between_ns},
    Cause{"synchronizing", "the host waited for the device", &IdleTime::synchronizing_ns},
    Cause{"copy wait", "the host waited in a copy", &IdleTime::copy_wait_ns},
    Cause{"allocating", "memory was allocated or freed", &IdleTime::allocating_ns},
    Cause{"nothing queued", "no call was near", &IdleTime::nothing_queued_ns}};

double per_unit(double ns, const SummaryDevice& device) {
  return device.units > 0 ? ns / device.units : ns;
}

Node bar_of(const SummaryStage& stage) {
  const SummaryDevice& device = *stage.device;
  std::vector<double> parts = {device.busy_ns};
  for (const Cause& cause : kCauses) parts.push_back(static_cast<double>(device.idle.*cause.ns));
  return object({{"name", Node::string(stage.name)},
                 {"unit", Node::string(stage.unit)},
                 {"units", number(device.units)},
                 {"parts_ns", numbers(parts)}});
}

Markup account_table(const RunSummary& summary) {
  using Align = Table::Align;
  std::vector<Table::Column> columns = {
      {"stage", Align::Left},
      {"units"},
      {"captured", Align::Right, "wall time per unit under the profiler"},
      {"unprofiled", Align::Right, "the same work without it"},
      {"busy", Align::Right, "time in which the GPU did something, per unit"},
      {"busy share", Align::Right,
       "of the unprofiled time where it is known, else of the captured"},
      {"at a time", Align::Right, "kernels and copies running together while it was busy"},
      {"launches", Align::Right, "per unit"},
      {"gap", Align::Right, "from the end of a launch to the next one"}};
  for (const Cause& cause : kCauses) columns.push_back({cause.name, Align::Right, cause.hint});
  Table table("account-table", "device busy and idle by cause", std::move(columns));
  for (const SummaryStage& stage : summary.stages) {
    if (!stage.device) continue;
    const SummaryDevice& device = *stage.device;
    std::vector<Cell> cells = {
        code_cell(stage.name),
        {text(counted(static_cast<std::uint64_t>(device.units), stage.unit)), device.units, {}},
        duration_cell(per_unit(device.captured_ns, device)),
        duration_cell(device.unprofiled_ns
                          ? std::optional<double>(per_unit(*device.unprofiled_ns, device))
                          : std::nullopt),
        duration_cell(per_unit(device.busy_ns, device)),
        bar_cell(device.busy_share),
        count_cell(device.concurrency),
        count_cell(device.launches_per_unit),
        duration_cell(device.gap_mean_ns)};
    for (const Cause& cause : kCauses) {
      cells.push_back(duration_cell(per_unit(static_cast<double>(device.idle.*cause.ns), device)));
    }
    table.add(cells);
  }
  return table.markup();
}

Markup capture_notes(const summary::RunArtifacts& run) {
  Markup items;
  if (!run.nsys_ranges) return items;
  for (const NsysCapture& capture : run.nsys_ranges->captures) {
    const UnplacedWork& rest = capture.unplaced;
    const auto add = [&](std::uint64_t count, std::int64_t ns, const char* one, const char* many,
                         const char* what) {
      if (count == 0) return;
      items += element(
          "li", text(fmt::format("capture {}: {} {} ({})", capture.name, counted(count, one, many),
                                 what, duration(static_cast<double>(ns)))));
    };
    add(rest.outside_ranges, rest.outside_ranges_ns, "piece of work was", "pieces of work were",
        "launched outside all ranges");
    add(rest.without_launch, rest.without_launch_ns, "piece of work has", "pieces of work have",
        "no record of the launch");
    for (const std::string& loss : capture.losses) {
      items += element("li", text("capture " + capture.name + ": " + loss));
    }
  }
  return items.empty() ? items : element("ul", {{"class", "notes"}}, items);
}

}  // namespace

Section device_section(const PageSource& source) {
  const RunSummary& summary = source.summary;
  Section section{"device", "GPU busy and idle"};
  Node bars = Node::list();
  std::vector<std::string> files;
  for (const SummaryStage& stage : summary.stages) {
    if (!stage.device) continue;
    bars.as_list().push_back(bar_of(stage));
    files.push_back(stage.device->source);
  }
  if (files.empty()) {
    section.add_nothing(
        summary.device == "cpu"
            ? "The model ran on the CPU, so there is no GPU activity."
            : "No profiler recorded the GPU: enable pipeline.nsys or pipeline.torch_profiler.");
    return section;
  }
  std::vector<std::string> names = {"busy"};
  for (const Cause& cause : kCauses) names.emplace_back(cause.name);
  section.add_chart("idle", "device busy and idle by cause, each stage",
                    text("How the GPU spent the captured time: busy, and idle by cause."),
                    object({{"parts", texts(names)}, {"stages", std::move(bars)}}));
  section.body += account_table(summary) +
                  source_line("Idle time is as captured; the profiler lengthens it.", files) +
                  capture_notes(source.run);
  return section;
}

}  // namespace profline::web
