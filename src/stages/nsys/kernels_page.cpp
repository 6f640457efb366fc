#include <algorithm>
#include <map>
#include <set>
#include <span>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/strings.h"
#include "formats/markdown.h"
#include "stages/nsys/internal/tables.h"

namespace profline::stages::internal {
namespace {

using markdown::Table;

constexpr std::size_t kShownKernels = 20;

std::string duration(std::int64_t ns) {
  return human_duration(FractionalNanoseconds(static_cast<double>(ns)));
}

std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "–";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// A kernel in all its shapes and places, which is what people ask for first.
struct KernelSum {
  const NsysKernel* first = nullptr;
  std::set<std::string> ranges;  ///< the outermost ones
  std::set<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> shapes;
  std::uint64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
};

/// Most time first.
std::vector<KernelSum> by_name(const std::vector<NsysKernel>& kernels) {
  std::map<std::string_view, std::size_t> places;
  std::vector<KernelSum> sums;
  for (const NsysKernel& kernel : kernels) {
    const auto [place, is_new] = places.try_emplace(kernel.name, sums.size());
    if (is_new) {
      sums.emplace_back();
      sums.back().first = &kernel;
      sums.back().min_ns = kernel.min_ns;
    }
    KernelSum& sum = sums[place->second];
    sum.ranges.insert(!kernel.launch_recorded ? "(launch not recorded)"
                      : kernel.ranges.empty() ? "(no range)"
                                              : kernel.ranges.front());
    sum.shapes.emplace(kernel.grid, kernel.block);
    sum.calls += kernel.calls;
    sum.total_ns += kernel.total_ns;
    sum.min_ns = std::min(sum.min_ns, kernel.min_ns);
    sum.max_ns = std::max(sum.max_ns, kernel.max_ns);
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const KernelSum& a, const KernelSum& b) { return a.total_ns > b.total_ns; });
  return sums;
}

/// What the columns of a range need, of all devices.
DeviceAccount sum_of(const std::vector<DeviceAccount>& devices) {
  DeviceAccount sum;
  for (const DeviceAccount& device : devices) {
    sum.busy_ns += device.busy_ns;
    sum.idle.queued_ns += device.idle.queued_ns;
    sum.idle.launching_ns += device.idle.launching_ns;
    sum.idle.copy_wait_ns += device.idle.copy_wait_ns;
    sum.idle.synchronizing_ns += device.idle.synchronizing_ns;
    sum.idle.allocating_ns += device.idle.allocating_ns;
    sum.idle.host_between_ns += device.idle.host_between_ns;
    sum.idle.nothing_queued_ns += device.idle.nothing_queued_ns;
  }
  return sum;
}

std::string captures_section(const NsysRanges& table) {
  Table rows({{"capture", Table::Align::Left},
              {"wall"},
              {"device", Table::Align::Left},
              {"GPU span"},
              {"GPU busy"},
              {"of span"},
              {"of wall"}});
  for (const NsysCapture& capture : table.captures) {
    for (const GpuSpan& span : capture.gpu_spans) {
      rows.add({markdown::code(capture.name), duration(capture.wall_ns),
                fmt::format("GPU {}", span.device), duration(span.length_ns()),
                duration(span.busy_ns), percent(span.busy_ns, span.length_ns()),
                percent(span.busy_ns, capture.wall_ns)});
    }
  }
  if (rows.empty()) return "No device work was recorded.\n";
  return rows.text();
}

std::string ranges_section(const NsysRanges& table) {
  Table rows({{"capture", Table::Align::Left},
              {"range", Table::Align::Left},
              {"×"},
              {"wall"},
              {"GPU busy"},
              {"launches"},
              {"per token"},
              {"idle: host between launches"},
              {"idle: launching"},
              {"idle: waiting for the GPU"},
              {"idle: other"}});
  for (const NsysRange& range : table.ranges) {
    const DeviceAccount all = sum_of(range.devices);
    const std::int64_t known =
        all.idle.host_between_ns + all.idle.launching_ns + all.idle.synchronizing_ns;
    const auto per_token = range.launches_per_token();
    // Each device closes to the range's wall time, so that this is the mean of their shares.
    const std::int64_t of_ns = range.wall_ns * static_cast<std::int64_t>(range.devices.size());
    const auto share = [&](std::int64_t ns) {
      return range.devices.empty() ? "–" : percent(ns, of_ns);
    };
    rows.add({markdown::code(range.capture), markdown::code(range.label()),
              std::to_string(range.instances), duration(range.wall_ns), share(all.busy_ns),
              range.devices.empty() ? "–" : std::to_string(range.launch.launches),
              per_token && !range.devices.empty() ? fmt::format("{:.0f}", *per_token) : "–",
              share(all.idle.host_between_ns), share(all.idle.launching_ns),
              share(all.idle.synchronizing_ns), share(all.idle.sum_ns() - known)});
  }
  if (rows.empty()) return "No NVTX ranges were recorded.\n";
  return rows.text();
}

std::string kernels_section(const NsysKernels& table) {
  if (table.kernels.empty()) {
    return "No kernels: " + markdown::plain(table.why_none.value_or("none were recorded")) + ".\n";
  }
  Table rows({{"kernel", Table::Align::Left},
              {"class", Table::Align::Left},
              {"in", Table::Align::Left},
              {"shapes"},
              {"calls"},
              {"total"},
              {"share"},
              {"mean"},
              {"min"},
              {"max"}});
  const std::vector<KernelSum> sums = by_name(table.kernels);
  std::int64_t rest_ns = table.total_ns;
  const std::size_t shown = std::min(kShownKernels, sums.size());
  for (const KernelSum& sum : std::span(sums).first(shown)) {
    rest_ns -= sum.total_ns;
    const std::vector<std::string> places(sum.ranges.begin(), sum.ranges.end());
    rows.add({markdown::code(sum.first->short_name), markdown::plain(sum.first->kernel_class),
              markdown::code(join(places, ", ")), std::to_string(sum.shapes.size()),
              std::to_string(sum.calls), duration(sum.total_ns),
              percent(sum.total_ns, table.total_ns),
              duration(sum.total_ns / static_cast<std::int64_t>(sum.calls)), duration(sum.min_ns),
              duration(sum.max_ns)});
  }
  std::string text = rows.text();
  if (sums.size() > shown) {
    text += fmt::format("\n{} with {} of the time in `kernels.json`.\n",
                        counted(sums.size() - shown, "more kernel is", "more kernels are"),
                        percent(rest_ns, table.total_ns));
  }
  return text;
}

}  // namespace

std::string kernels_page(const NsysTables& tables) {
  std::string text = "# Kernels and ranges by Nsight Systems\n\n";
  text += fmt::format(
      "{}; {}, {} together. Full names, shapes and ranges of each: `kernels.json`; all ranges: "
      "`ranges.json`.\n\n",
      markdown::plain(tables.kernels.tool), counted(tables.kernels.launches, "kernel launch"),
      duration(tables.kernels.total_ns));
  text += "## How busy the GPU was\n\n";
  text +=
      "Wall time is from the first to the last event of the capture, the GPU span from the first "
      "to "
      "the last activity of the device.\n\n";
  text += captures_section(tables.ranges);
  text += "\n## Where the time of each range went\n\n";
  text += "Shares are of the range's wall time; with several devices, the mean over them.\n\n";
  text += ranges_section(tables.ranges);
  text += "\n## Kernels with most time\n\n";
  text += kernels_section(tables.kernels);
  return text;
}

}  // namespace profline::stages::internal
