#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "kernel_lab/launch_census.h"
#include "kernel_lab/launch_choice.h"
#include "process/command.h"
#include "settings/ncu.h"
#include "tools/ncu/probe.h"

/// The commands of the lab, as pure functions.
namespace profline::kernel_lab {

/// ncu's name for certain launches of what an expression matches: `::regex:gemm:^(2|5)$`. Nothing
/// for an expression that cannot stand there: ncu takes the identifier apart at its colons, which
/// are written `\x3a`, and that cannot be done inside `[[:alpha:]]` or `(?i:`.
std::optional<std::string> kernel_id(std::string_view regex,
                                     std::span<const std::uint32_t> invocations);

/// An expression for all of them.
std::string any_of(std::span<const WantedKernel> kernels);

/// The program under ncu, into `<folder>/ncu.ncu-rep`; what ncu says goes to `<folder>/ncu.log`,
/// what the program says to `<folder>/program.log`.
Command capture_command(const ncu::Installation& ncu, const settings::Ncu& settings,
                        std::string_view regex, const LaunchChoice& choice,
                        const std::filesystem::path& folder, const Command& program);

/// The program under ncu with one cheap counter, to count the launches that match; the table goes
/// to `csv`.
Command counting_command(const ncu::Installation& ncu, const settings::Ncu& settings,
                         std::string_view regex, const std::filesystem::path& csv,
                         const Command& program);

/// Tables made of a report, each with its file: the sections, the details page, all counters.
struct Export {
  Command command;
  std::filesystem::path file;
};
/// `only`: the rows of kernels that match this expression, where a report has several.
std::vector<Export> export_commands(const ncu::Installation& ncu, const settings::Ncu& settings,
                                    const std::filesystem::path& report,
                                    const std::filesystem::path& folder,
                                    const std::optional<std::string>& only);

/// The file of all counters in a kernel's folder.
inline constexpr const char* kMetricsFile = "ncu.metrics.csv";
inline constexpr const char* kReportFile = "ncu.ncu-rep";
inline constexpr const char* kLogFile = "ncu.log";

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

/// A preset (`conf/profiling/ncu/*.yaml`): the map `ncu_cli`, or the root when that map is missing.
/// An Error for what contradicts one capture per kernel: kernel_name, launch_skip and launch_count,
/// a kernel_name_base other than demangled, and the replay of ranges.
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
