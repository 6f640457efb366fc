#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/figures.h"
#include "web/internal/sections.h"
#include "web/markup.h"

namespace profline::web {
namespace {

using run::GpuReading;

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
    Cause{"nothing queued", "the host was not using the device", &IdleTime::nothing_queued_ns}};

double per_unit(double ns, const SummaryDevice& device) {
  return device.units > 0 ? ns / device.units : ns;
}

Node bar_of(const PhaseSummary& phase) {
  const SummaryDevice& device = *phase.device;
  std::vector<double> parts = {device.busy_ns};
  for (const Cause& cause : kCauses) parts.push_back(static_cast<double>(device.idle.*cause.ns));
  return object({{"name", Node::string(phase.name)},
                 {"unit", Node::string(phase.unit)},
                 {"units", number(device.units)},
                 {"parts_ns", numbers(parts)}});
}

Markup account_table(const RunSummary& summary) {
  using Align = Table::Align;
  std::vector<Table::Column> columns = {
      {"phase", Align::Left},
      {"units"},
      {"captured", Align::Right, "wall time per unit under the profiler"},
      {"unprofiled", Align::Right, "the same work without the profiler"},
      {"busy", Align::Right, "time in which the GPU did something, per unit"},
      {"busy share", Align::Right,
       "of the unprofiled time where it is known, else of the captured"},
      {"at a time", Align::Right, "kernels and copies running together while it was busy"},
      {"launches", Align::Right, "per unit"},
      {"gap", Align::Right, "from the end of a launch to the next one"}};
  for (const Cause& cause : kCauses) columns.push_back({cause.name, Align::Right, cause.hint});
  Table table("account-table", "device busy and idle by cause", std::move(columns));
  for (const PhaseSummary& phase : summary.phases) {
    if (!phase.device) continue;
    const SummaryDevice& device = *phase.device;
    std::vector<Cell> cells = {
        code_cell(phase.name),
        {text(counted(static_cast<std::uint64_t>(device.units), phase.unit)), device.units, {}},
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

Markup capture_notes(const run::Run& run) {
  const auto& nsys_ranges = run.get(run::kNsysRanges);
  Markup items;
  if (!nsys_ranges) return items;
  for (const NsysCapture& capture : nsys_ranges->captures) {
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

/// Maximum readings per curve; beyond that, neighbours are averaged.
constexpr std::size_t kMostReadings = 1500;

struct Curve {
  const char* name;
  const char* unit;
  std::optional<double> GpuReading::*value;
};
constexpr Curve kCurves[] = {{"SM clock", "MHz", &GpuReading::sm_clock_mhz},
                             {"memory clock", "MHz", &GpuReading::memory_clock_mhz},
                             {"power", "W", &GpuReading::power_w},
                             {"temperature", "°C", &GpuReading::temperature_c},
                             {"utilisation", "%", &GpuReading::utilisation_pct},
                             {"memory used", "GiB", &GpuReading::memory_gib}};

/// The bits of nvmlClocksThrottleReasons.
constexpr std::pair<std::uint64_t, const char*> kReasons[] = {{0x1, "idle"},
                                                              {0x2, "application clocks"},
                                                              {0x4, "software power cap"},
                                                              {0x8, "hardware slowdown"},
                                                              {0x10, "sync boost"},
                                                              {0x20, "software thermal slowdown"},
                                                              {0x40, "hardware thermal slowdown"},
                                                              {0x80, "hardware power brake"},
                                                              {0x100, "display clocks"}};

std::optional<double> mean(const std::vector<GpuReading>& readings, std::size_t from,
                           std::size_t to, std::optional<double> GpuReading::*value) {
  double sum = 0;
  std::size_t n = 0;
  for (std::size_t i = from; i < to; ++i) {
    if (!(readings[i].*value)) continue;
    sum += *(readings[i].*value);
    ++n;
  }
  return n > 0 ? std::optional<double>(sum / static_cast<double>(n)) : std::nullopt;
}

Node data_of(const std::vector<GpuReading>& readings) {
  const std::size_t step = (readings.size() + kMostReadings - 1) / kMostReadings;
  std::vector<double> at;
  for (std::size_t i = 0; i < readings.size(); i += step) at.push_back(readings[i].at_s);
  Node curves = Node::list();
  for (const Curve& curve : kCurves) {
    Node values = Node::list();
    bool has_values = false;
    for (std::size_t i = 0; i < readings.size(); i += step) {
      const auto value = mean(readings, i, std::min(i + step, readings.size()), curve.value);
      has_values = has_values || value;
      values.as_list().push_back(number(value));
    }
    if (!has_values) continue;
    curves.as_list().push_back(object({{"name", Node::string(curve.name)},
                                       {"unit", Node::string(curve.unit)},
                                       {"values", std::move(values)}}));
  }
  return object({{"at_s", numbers(at)}, {"curves", std::move(curves)}});
}

Markup range_table(const std::vector<GpuReading>& readings) {
  using Align = Table::Align;
  Table table("nvml-table", "NVML readings over the run",
              {{"what", Align::Left}, {"unit", Align::Left}, {"mean"}, {"min"}, {"max"}});
  for (const Curve& curve : kCurves) {
    const auto average = mean(readings, 0, readings.size(), curve.value);
    if (!average) continue;
    double low = *average;
    double high = *average;
    for (const GpuReading& reading : readings) {
      if (!(reading.*curve.value)) continue;
      low = std::min(low, *(reading.*curve.value));
      high = std::max(high, *(reading.*curve.value));
    }
    const auto cell = [](double value) {
      return Cell{text(fmt::format("{:.4g}", value)), value, {}};
    };
    table.add(
        {text_cell(curve.name), text_cell(curve.unit), cell(*average), cell(low), cell(high)});
  }
  return table.markup();
}

std::string throttling(const std::vector<GpuReading>& readings) {
  std::string reasons;
  for (const auto& [bit, name] : kReasons) {
    const auto count = std::count_if(
        readings.begin(), readings.end(),
        [bit = bit](const GpuReading& reading) { return (reading.throttle_reasons & bit) != 0; });
    if (count > 0) {
      reasons += (reasons.empty() ? "" : "; ") +
                 fmt::format("{} in {} of the readings", name,
                             percent_of(count, static_cast<std::int64_t>(readings.size())));
    }
  }
  return reasons.empty() ? "Nothing held the clocks down."
                         : "Clocks were held down by: " + reasons + ".";
}

}  // namespace

namespace {

/// The energy of the measured run; what is withheld says why.
Markup energy_table(const RunSummary& summary) {
  if (summary.energy.empty()) return {};
  using Align = Table::Align;
  Table table("energy-table", "energy of the GPU",
              {{"energy of", Align::Left},
               {"time"},
               {"energy"},
               {"power"},
               {"per token"},
               {"tokens per joule"},
               {"sources differ by", Align::Right,
                "the energy counter and the instantaneous power over time"},
               {"remark", Align::Text}});
  constexpr double kNsPerS = 1e9;
  const auto cell = [](const std::optional<double>& value, const char* unit) {
    return Cell{text(amount(value, unit)), value, {}};
  };
  for (const SummaryEnergy& energy : summary.energy) {
    std::string remark = energy.withheld.empty() ? "" : "withheld: " + energy.withheld;
    for (const std::string& note : energy.notes) remark += (remark.empty() ? "" : "; ") + note;
    table.add({text_cell(energy.phase.empty() ? "steady requests" : energy.phase),
               duration_cell(energy.seconds * kNsPerS),
               cell(energy.joules, "J"),
               cell(energy.watts, "W"),
               cell(energy.joules_per_token, "J"),
               {text(plain_number(energy.tokens_per_joule)), energy.tokens_per_joule, {}},
               share_cell(energy.difference),
               text_cell(remark)});
  }
  return table.markup() + source_line("Energy of the whole GPU without a profiler.",
                                      {summary.energy.front().source});
}

}  // namespace

Section device_section(const PageSource& source) {
  const RunSummary& summary = source.summary;
  Section section{"device", "GPU busy and idle"};
  Node bars = Node::list();
  std::vector<std::string> files;
  for (const PhaseSummary& phase : summary.phases) {
    if (!phase.device) continue;
    bars.as_list().push_back(bar_of(phase));
    files.push_back(phase.device->source);
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
  section.add_chart("idle", "device busy and idle by cause, each phase",
                    text("How the GPU spent the captured time: busy, and idle by cause."),
                    object({{"parts", texts(names)}, {"phases", std::move(bars)}}));
  section.body += account_table(summary) +
                  source_line("Idle time is as captured; the profiler lengthens it.", files) +
                  capture_notes(source.run);
  return section;
}

Section nvml_section(const PageSource& source) {
  Section section{"nvml", "Clocks, power, temperature, energy"};
  const auto& gpu = source.run.get(run::kGpuReadings);
  if (!gpu || gpu->empty()) {
    section.add_nothing(source.summary.device == "cpu"
                            ? "The model ran on the CPU: there is nothing for NVML to read."
                            : "NVML was not read: " + gpu.file + " " +
                                  (gpu ? "is empty" : gpu.why_not) + ".");
    return section;
  }
  const run::GpuReadings measured = run::measured_readings(source.run);
  section.add_chart("nvml",
                    "clocks, power, temperature and memory of the GPU over the measured run",
                    text(counted(measured.size(), "reading") + " over the run without a profiler."),
                    data_of(measured));
  section.body += range_table(measured) + source_line(throttling(measured), {gpu.file}) +
                  energy_table(source.summary);
  return section;
}

}  // namespace profline::web
