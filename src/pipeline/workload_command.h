#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/stage.h"
#include "workloads/program/environment.h"

namespace profline::pipeline {

/// How a stage wants the workload run.
struct WorkloadRun {
  std::string_view stage;        ///< whose folder it starts in
  std::string_view mode;         ///< of profline-workload: `baseline`, `profiled`
  std::filesystem::path config;  ///< passed to it
  std::filesystem::path out;     ///< where it writes
  std::optional<std::uint32_t> samples{};
  std::optional<std::filesystem::path> baseline{};  ///< run whose texts are shown
  /// For a user's program: what its processes load and open. The folders are filled in.
  program::ProgramRun program{};
};

/// The profiled program as it runs without a profiler: the built-in workload, or the user's own,
/// which starts in `pipeline.workload.cwd` with the variables of program::environment(); a module
/// also gets module_overrides(). Its output goes to `log` in the folder it writes to. A built-in
/// workload that was not found appears under the name it would have (preflight reports it).
Command workload_command(const StageContext& context, const WorkloadRun& run);

/// The config file of a stage's workload, which is written before the stage runs: the run's own or,
/// with changes, `config.json` in the stage's folder.
std::filesystem::path handed_config_file(const RunSetup& setup, std::string_view stage,
                                         std::span<const ConfigChange> changes);

/// The config with these changes, as text for the stage's workload. It becomes a file of the run
/// and has no secrets; those that the built-in workload needs are in its environment.
Result<std::string> handed_config(const RunSetup& setup, std::span<const ConfigChange> changes);

/// The secrets that were removed from that text, as JSON, for the child's environment
/// (kConfigSecrets); nothing if it has no secrets.
std::optional<std::string> config_secrets(const RunSetup& setup);

/// The changes under another program's profiler: libtorch's own profiler is off, because CUPTI
/// serves one client, and nothing is drawn or written that would disturb the measurement. Only
/// lists what differs from the config.
std::vector<ConfigChange> changes_under_profiler(const Node& config);

/// The Hydra overrides for a module of `pipeline.workload.module`, so that it runs what the
/// built-in workload would: device, paths, tokens, sampling, profiling off, and its own run folder
/// below the stage's. Only keys that the config has; paths are absolute.
std::vector<std::string> module_overrides(const RunSetup& setup, const WorkloadRun& run);

}  // namespace profline::pipeline
