#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "settings/ncu.h"
#include "tools/ncu/probe.h"

namespace profline::kernel_lab {

/// What is wanted of each kernel.
struct CollectionWish {
  std::optional<settings::NcuCli> preset{};  ///< none: the four sections of ncu.default
  /// Also the roofline section and the counters of a physical roofline. Unless asked for: only
  /// without a preset, which is taken as it is written.
  std::optional<bool> roofline{};
  std::vector<std::string> extra_sections{};
  /// In place of the preset's; an empty name: everywhere.
  std::vector<std::string> nvtx_include{};
  std::optional<settings::ClockControl> clock_control{};
};

/// A preset (`conf/profiling/ncu/*.yaml`): the map `ncu_cli`, or the root when there is none. An
/// Error for what contradicts one capture per kernel: kernel_name, launch_skip and launch_count, a
/// kernel_name_base other than demangled, and the replay of ranges.
Result<settings::NcuCli> read_preset(const Node& tree);

/// The sections of ncu.default, and the section of the roofline.
inline constexpr const char* kDefaultSections[] = {"SpeedOfLight", "MemoryWorkloadAnalysis",
                                                   "Occupancy", "SchedulerStats"};
inline constexpr const char* kRooflineSection = "SpeedOfLight_RooflineChart";

/// The counters from which analysis/roofline computes operations, bytes and time, as far as this
/// ncu and its GPU have them.
std::vector<std::string> roofline_counters(const ncu::Installation& ncu);

/// ncu's options for every kernel; which kernel and launches is added later.
settings::Ncu capture_settings(const CollectionWish& wish, const ncu::Installation& ncu);

}  // namespace profline::kernel_lab
