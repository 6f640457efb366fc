#include <algorithm>

#include <fmt/format.h>

#include "base/figures.h"
#include "summary/verdict.h"
#include "web/internal/sections.h"
#include "web/internal/timeline_window.h"
#include "web/markup.h"

namespace profline::web {
namespace {

/// The leading phase, with the step count of the profiled workload's first request.
ShownPhase shown_phase(const PageSource& source, std::string_view tool) {
  const PhaseSummary* const leading = summary::leading_phase(source.summary);
  if (leading == nullptr) return {};
  ShownPhase shown{leading->name};
  for (const run::ProfiledRequests& profiled : source.run.profiled()) {
    if (profiled.stage != tool || !profiled.requests || profiled.requests->empty()) continue;
    if (!profiled.gate.empty() && profiled.gate != leading->name) continue;
    const Phase* const phase = profiled.requests->front().find_phase(leading->path);
    if (phase != nullptr && phase->steps_ns) shown.steps = phase->steps_ns->size();
    return shown;
  }
  return shown;
}

/// Six numbers per event in one flat list: half the size of a list per event.
Node events_of(const Window& window) {
  Node list = Node::list();
  list.as_list().reserve(window.events.size() * 6);
  for (const WindowEvent& event : window.events) {
    for (const std::int64_t value :
         {static_cast<std::int64_t>(event.lane), event.start_ns, event.duration_ns,
          static_cast<std::int64_t>(event.name), static_cast<std::int64_t>(event.kind),
          event.since_launch_ns}) {
      list.as_list().push_back(Node::integer(value));
    }
  }
  return list;
}

Node data_of(const Window& window, const std::string& run_id) {
  Node lanes = Node::list();
  for (const Lane& lane : window.lanes) {
    lanes.as_list().push_back(
        object({{"name", Node::string(lane.name)}, {"is_device", Node::boolean(lane.is_device)}}));
  }
  return object({{"run", Node::string(run_id)},
                 {"length_ns", Node::integer(window.end_ns - window.begin_ns)},
                 {"lanes", std::move(lanes)},
                 {"names", texts(window.names)},
                 {"events", events_of(window)}});
}

/// The content of the lanes, for readers who cannot see the chart.
Markup lane_table(const Window& window) {
  using Align = Table::Align;
  Table table("lanes-table", "lanes of the timeline",
              {{"lane", Align::Left},
               {"events"},
               {"busy", Align::Right, "share of the time shown in which the lane has an event"},
               {"longest gap", Align::Right, "longest time without an event"},
               {"longest event", Align::Left},
               {"its time"}});
  const auto length = static_cast<double>(window.end_ns - window.begin_ns);
  for (std::size_t i = 0; i < window.lanes.size(); ++i) {
    const LaneAccount account = account_of(window, i);
    if (account.longest == nullptr) continue;
    table.add({text_cell(window.lanes[i].name), number_cell(account.events),
               bar_cell(static_cast<double>(account.busy_ns) / length),
               duration_cell(static_cast<double>(account.longest_gap_ns)),
               code_cell(window.names[account.longest->name]),
               duration_cell(static_cast<double>(account.longest->duration_ns))});
  }
  return table.markup();
}

/// The most points per curve: means of the samples in equal parts of the time.
constexpr std::size_t kMostPoints = 600;

/// What a GPU sampled over the whole capture, as curves over time.
Node curves_of(const GpuSamples& samples, std::int64_t begin_ns) {
  const std::size_t step = (samples.when_ns.size() + kMostPoints - 1) / kMostPoints;
  std::vector<double> at;
  for (std::size_t i = 0; i < samples.when_ns.size(); i += step) {
    at.push_back(static_cast<double>(samples.when_ns[i] - begin_ns) / 1e9);
  }
  Node curves = Node::list();
  for (std::size_t metric = 0; metric < kGpuMetrics; ++metric) {
    const std::vector<float>& shares = samples.values[metric];
    if (std::all_of(shares.begin(), shares.end(), [](float share) { return share == 0; })) continue;
    std::vector<double> values;
    for (std::size_t i = 0; i < shares.size(); i += step) {
      const std::size_t end = std::min(i + step, shares.size());
      double sum = 0;
      for (std::size_t k = i; k < end; ++k) sum += static_cast<double>(shares[k]);
      values.push_back(100 * sum / static_cast<double>(end - i));
    }
    const std::string name(to_text(static_cast<GpuMetric>(metric)));
    curves.as_list().push_back(object(
        {{"name", Node::string(name)}, {"unit", Node::string("%")}, {"values", numbers(values)}}));
  }
  return object({{"at_s", numbers(at)}, {"curves", std::move(curves)}});
}

/// The samples of the GPU that did most work in the capture.
void add_samples(const ShownCapture& shown, Section& section) {
  const GpuSamples* most = nullptr;
  std::size_t most_work = 0;
  for (const GpuSamples& samples : shown.rows->gpu_samples) {
    const auto work = static_cast<std::size_t>(
        std::count_if(shown.rows->work.begin(), shown.rows->work.end(), [&](const DeviceWork& one) {
          return one.stream != kNoRow && shown.rows->streams[one.stream].device == samples.device;
        }));
    if (work <= most_work) continue;
    most = &samples;
    most_work = work;
  }
  if (most == nullptr) return;
  section.add_chart(
      "nvml.metrics", "the GPU's counters over the capture",
      text(fmt::format("What GPU {} sampled over the whole capture, in percent of each peak: {}. "
                       "Everything on the GPU is included. From ",
                       most->device, counted(most->when_ns.size(), "sample"))) +
          from_files({shown.file}) + text("."),
      curves_of(*most, shown.rows->begin_ns));
}

/// Mentions only what the run has: the torch profiler's trace, the nsys capture.
Markup export_line(const PageSource& source, const ShownCapture& shown) {
  Markup html = element("span", {{"class", "needs-script"}, {"id", "export"}},
                        element("button", {{"type", "button"}, {"data-export", "timeline"}},
                                text("Save what is shown as a Perfetto trace")) +
                            text(" "));
  const auto& trace = source.run.get(run::kTorchTrace);
  Markup whole;
  if (trace) {
    whole += element("a", {{"href", "./" + trace.file}}, code(trace.file)) +
             text(" opens in ui.perfetto.dev");
  }
  if (shown.tool == run::stages::kNsys) {
    whole += text(trace ? "; " : "") + code("profline trace " + shown.file + " --export perfetto") +
             text(" converts the nsys capture");
  }
  if (!whole.empty()) html += text("The whole capture: ") + whole + text(".");
  return element("p", {{"class", "from"}}, html);
}

}  // namespace

Section timeline_section(const PageSource& source) {
  Section section{"timeline", "Timeline"};
  const ShownCapture shown = source.shown_capture();
  if (shown.rows == nullptr) {
    const auto& trace = source.run.get(run::kTorchTrace);
    section.add_nothing("No capture can be shown: " + source.why_no_capture() + ", " + trace.file +
                        " " + trace.why_not + ".");
    return section;
  }
  const auto window = window_of(*shown.rows, shown_phase(source, shown.tool));
  if (!window) {
    section.add_nothing("The capture " + shown.file + " has no events.");
    return section;
  }
  const std::string sampled = fmt::format(
      "A sample: {}, {}, {} of the capture's {}{}. Times are under the profiler. Where events are "
      "too short for bars of their own, the height of the lane is the share of each pixel that is "
      "busy; long gaps carry their length. ",
      window->what, duration(static_cast<double>(window->end_ns - window->begin_ns)),
      window->events.size(), counted(window->all_events, "event"),
      window->left_out > 0 ? " (" +
                                 counted(window->left_out, "more event in this time is",
                                         "more events in this time are") +
                                 " not shown: deeper, or on other threads)"
                           : "");
  section.add_chart(
      "timeline", "lanes of host and GPU over a few steps",
      text(sampled + "Drag to move; zoom with Ctrl and the wheel, with the bar below, or with "
                     "the keys + - 0 and the arrows. From ") +
          from_files({shown.file}) + text("."),
      data_of(*window, source.summary.run));
  section.body += export_line(source, shown) +
                  element("details", {{"class", "more"}},
                          element("summary", text("The lanes as a table")) + lane_table(*window));
  add_samples(shown, section);
  return section;
}

}  // namespace profline::web
