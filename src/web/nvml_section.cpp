#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/figures.h"
#include "web/sections.h"
#include "web/table.h"

namespace profline::web {
namespace {

/// Readings a curve has at most: neighbours are taken together.
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
    bool is_told = false;
    for (std::size_t i = 0; i < readings.size(); i += step) {
      const auto value = mean(readings, i, std::min(i + step, readings.size()), curve.value);
      is_told = is_told || value;
      values.as_list().push_back(number(value));
    }
    if (!is_told) continue;
    curves.as_list().push_back(object({{"name", Node::string(curve.name)},
                                       {"unit", Node::string(curve.unit)},
                                       {"values", std::move(values)}}));
  }
  return object({{"at_s", numbers(at)}, {"curves", std::move(curves)}});
}

Markup range_table(const std::vector<GpuReading>& readings) {
  using Align = Table::Align;
  Table table("nvml-table", "what NVML said over the run",
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
  std::string told;
  for (const auto& [bit, name] : kReasons) {
    const auto count = std::count_if(
        readings.begin(), readings.end(),
        [bit = bit](const GpuReading& reading) { return (reading.throttle_reasons & bit) != 0; });
    if (count > 0) {
      told += (told.empty() ? "" : "; ") + fmt::format("{} in {:.0f} % of the readings", name,
                                                       100.0 * static_cast<double>(count) /
                                                           static_cast<double>(readings.size()));
    }
  }
  return told.empty() ? "Nothing held the clocks down." : "Clocks were held down by: " + told + ".";
}

}  // namespace

Section nvml_section(const PageSource& source) {
  Section section{"nvml", "Clocks, power, temperature"};
  const auto& gpu = source.gpu;
  if (!gpu || gpu->empty()) {
    section.add_nothing(source.summary.device == "cpu"
                            ? "The model ran on the CPU: there is nothing for NVML to read."
                            : "NVML was not read: " + gpu.file + " " +
                                  (gpu ? "is empty" : gpu.why_not) + ".");
    return section;
  }
  section.add_chart(
      "nvml", "clocks, power, temperature and memory of the GPU over the measured run",
      text(counted(gpu->size(), "reading") + " over the run without a profiler."), data_of(*gpu));
  section.body += range_table(*gpu) + source_line(throttling(*gpu), {gpu.file});
  return section;
}

}  // namespace profline::web
