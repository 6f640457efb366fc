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
#include "kernel_lab/launches.h"
#include "process/runner.h"
#include "settings/nsight.h"
#include "tools/ncu/probe.h"

/// The commands of `profline kernels profile`, as pure functions.
namespace profline::kernel_lab {

/// ncu's identifier for certain launches of what an expression matches: `::regex:gemm:^(2|5)$`.
/// Nothing for an expression that cannot be used there: ncu splits the identifier at colons, so
/// they are written `\x3a`, which is impossible inside `[[:alpha:]]` or `(?i:`.
std::optional<std::string> kernel_id(std::string_view regex,
                                     std::span<const std::uint32_t> invocations);

/// One expression that matches all of them.
std::string any_of(std::span<const WantedKernel> kernels);

/// The program under ncu, captured into `<folder>/ncu.ncu-rep`; ncu's output goes to
/// `<folder>/ncu.log`, the program's to `<folder>/program.log`.
Command capture_command(const ncu::Installation& ncu, const settings::Ncu& settings,
                        std::string_view regex, const LaunchChoice& choice,
                        const std::filesystem::path& folder, const Command& program);

/// The program under ncu with one cheap counter, to count matching launches; the table goes to
/// `csv`.
Command counting_command(const ncu::Installation& ncu, const settings::Ncu& settings,
                         std::string_view regex, const std::filesystem::path& csv,
                         const Command& program);

/// The tables of a report, each with its file: the sections, the details page, all counters.
struct Export {
  Command command;
  std::filesystem::path file;
};
/// `only`: restricts the tables to kernels that match this expression, for a report with several.
std::vector<Export> export_commands(const ncu::Installation& ncu, const settings::Ncu& settings,
                                    const std::filesystem::path& report,
                                    const std::filesystem::path& folder,
                                    const std::optional<std::string>& only);

/// The file of all counters in a kernel's folder.
inline constexpr const char* kMetricsFile = "ncu.metrics.csv";
inline constexpr const char* kReportFile = "ncu.ncu-rep";
inline constexpr const char* kLogFile = "ncu.log";

/// What to collect for each kernel.
struct CollectionRequest {
  std::optional<settings::NcuCli> preset{};  ///< absent: the four sections of ncu.default
  /// Also collect the roofline section and the counters of a physical roofline. Default: only
  /// without a preset, because a preset is used as written.
  std::optional<bool> roofline{};
  std::vector<std::string> extra_sections{};
  /// Replaces the preset's ranges; an empty name: everywhere.
  std::vector<std::string> nvtx_include{};
  std::optional<settings::ClockControl> clock_control{};
};

/// A preset (`conf/profiling/ncu/*.yaml`): the map `ncu_cli`, or the root if that map is missing.
/// An Error for what contradicts one capture per kernel: kernel_name, launch_skip and launch_count,
/// a kernel_name_base other than demangled, and range replay.
Result<settings::NcuCli> read_preset(const Node& tree);

/// Reads the preset in a file, whose path may be relative to `cwd`; if there is no such file, the
/// shipped preset of that name (`ncu.h200`).
Result<settings::NcuCli> load_preset(const std::string& name, const std::filesystem::path& cwd);

/// What this ncu does not know and leaves out, one sentence each. An Error if it knows nothing of
/// what is requested.
Result<std::vector<std::string>> left_out(const ncu::Installation& ncu,
                                          const settings::NcuCli& cli);

/// The sections of ncu.default, and the section of the roofline.
inline constexpr const char* kDefaultSections[] = {"SpeedOfLight", "MemoryWorkloadAnalysis",
                                                   "Occupancy", "SchedulerStats"};
inline constexpr const char* kRooflineSection = "SpeedOfLight_RooflineChart";

/// The counters from which analysis/roofline computes operations, bytes and time, as far as this
/// ncu and its GPU provide them.
std::vector<std::string> roofline_counters(const ncu::Installation& ncu);

/// ncu's options for every kernel; the kernel and its launches are added later.
settings::Ncu capture_settings(const CollectionRequest& request, const ncu::Installation& ncu);

}  // namespace profline::kernel_lab
