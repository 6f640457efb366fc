#include <algorithm>

#include <fmt/core.h>

#include "base/strings.h"
#include "base/units.h"
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

std::string shape(const std::vector<std::uint32_t>& three) {
  if (three.size() != 3) return "–";
  return fmt::format("{}×{}×{}", three[0], three[1], three[2]);
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
    const DeviceAccount none;
    const DeviceAccount& device = range.devices.empty() ? none : range.devices.front();
    const std::int64_t known =
        device.idle.host_between_ns + device.idle.launching_ns + device.idle.synchronizing_ns;
    const auto per_token = range.launches_per_token();
    const auto share = [&](std::int64_t ns) {
      return range.devices.empty() ? "–" : percent(ns, range.wall_ns);
    };
    rows.add({markdown::code(range.capture), markdown::code(range.label()),
              std::to_string(range.instances), duration(range.wall_ns), share(device.busy_ns),
              std::to_string(range.launch.launches),
              per_token ? fmt::format("{:.0f}", *per_token) : "–",
              share(device.idle.host_between_ns), share(device.idle.launching_ns),
              share(device.idle.synchronizing_ns), share(device.idle.sum_ns() - known)});
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
              {"ranges", Table::Align::Left},
              {"capture", Table::Align::Left},
              {"grid"},
              {"block"},
              {"calls"},
              {"total"},
              {"share"},
              {"median"},
              {"min"},
              {"max"}});
  const std::size_t shown = std::min(kShownKernels, table.kernels.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const NsysKernel& kernel = table.kernels[i];
    const std::string place = kernel.launch_recorded ? join(kernel.ranges, " / ") : "not recorded";
    rows.add({markdown::code(kernel.short_name), markdown::plain(kernel.kernel_class),
              markdown::code(place), markdown::code(kernel.capture), shape(kernel.grid),
              shape(kernel.block), std::to_string(kernel.calls), duration(kernel.total_ns),
              percent(kernel.total_ns, table.total_ns),
              human_duration(FractionalNanoseconds(kernel.median_ns)), duration(kernel.min_ns),
              duration(kernel.max_ns)});
  }
  std::string text = rows.text();
  if (table.kernels.size() > shown) {
    std::int64_t rest_ns = 0;
    for (std::size_t i = shown; i < table.kernels.size(); ++i) {
      rest_ns += table.kernels[i].total_ns;
    }
    text += fmt::format("\n{} more rows with {} of the time are in `kernels.json`.\n",
                        table.kernels.size() - shown, percent(rest_ns, table.total_ns));
  }
  return text;
}

}  // namespace

std::string kernels_page(const NsysTables& tables) {
  std::string text = "# Kernels and ranges by Nsight Systems\n\n";
  text += fmt::format(
      "{}; {} launches of kernels, {} together. Full names, all rows: `kernels.json`; "
      "ranges: `ranges.json`.\n\n",
      markdown::plain(tables.kernels.tool), tables.kernels.launches,
      duration(tables.kernels.total_ns));
  text += "## Where the time of each range went\n\n";
  text += "Shares are of the range's wall time on its first device.\n\n";
  text += ranges_section(tables.ranges);
  text += "\n## Kernels with most time\n\n";
  text += kernels_section(tables.kernels);
  return text;
}

}  // namespace profline::stages::internal
