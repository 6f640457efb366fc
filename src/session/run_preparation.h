#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/defaults/search_path.h"
#include "pipeline/plan.h"
#include "records/run_record.h"
#include "run/run_folder.h"
#include "session/configuration.h"
#include "session/services.h"
#include "settings/hardware.h"
#include "tools/gpu/driver.h"

namespace profline::session {

/// The programs named by the user; empty: those of the previous attempt, else found automatically.
struct ProgramChoice {
  std::string workload{};
  std::string nsys{};
  std::string ncu{};
  ToolsRecord remembered{};  ///< of the run to resume
};

/// Tools found so far, by what was requested.
struct ToolSurveys {
  std::map<std::string, pipeline::Toolbox> found;
};

/// One run to prepare.
struct RunRequest {
  ConfigChoice choice{};
  ProgramChoice programs{};
  std::vector<std::string> argv{};   ///< as typed, for the record
  std::optional<std::size_t> job{};  ///< its number in a multirun, whose folder is sweep.dir
  /// The sweep's folder, if it already exists.
  std::optional<std::filesystem::path> sweep_folder{};
  std::optional<std::filesystem::path> resume{};  ///< the run to resume
  std::optional<std::uint64_t> sampling_seed{};   ///< of the run to resume
  std::shared_ptr<ToolSurveys> surveys{};         ///< shared by jobs that are only checked
};

/// A run that is ready to start: everything known before any of it runs. It cannot be moved.
struct PreparedRun {
  std::unique_ptr<Configuration> configuration;
  /// Created and locked; absent if only planning.
  std::optional<run::RunFolder> folder;
  bool folder_was_named = false;  ///< by an override
  pipeline::Stages stages;
  pipeline::RunPlan plan;
  std::vector<std::string> overrides;
};

/// The choice with only the stage enabled that runs the model for its answers. Predictions are on
/// unless an override says otherwise. Additions come last, so that the user's overrides keep their
/// numbers in messages.
ConfigChoice for_answers(ConfigChoice choice);

enum class Making {
  Nothing,  ///< for plan: the folder is only chosen
  Folder,   ///< for run
};

/// Composes, chooses the folder, resolves, decides the device, looks for the tools and plans. The
/// Error says what is wrong with the config; what is missing on the machine is in the plan's
/// findings.
Result<PreparedRun> prepare_run(const RunRequest& request, Making making, const Services& services);

/// The folder for the jobs of a multirun: hydra.sweep.dir, with a suffix if that is taken.
Result<run::FolderRequest> sweep_folder_request(const Configuration& configuration);

}  // namespace profline::session

/// The device that a config refers to, and its ceilings.
namespace profline::session {

/// The first table of devices on the search path; the built-in one is always on it.
Result<settings::Hardware> load_hardware(const config::SearchPath& search_path);

/// The device by the driver's name, ignoring case and with or without the leading `NVIDIA`. Null if
/// the name does not identify one device.
const settings::DeviceLimits* find_device(const settings::Hardware& hardware,
                                          std::string_view name);

/// The device that the settings select on this machine, as passed to the workload: `cpu` or
/// `cuda:N`. `auto` is the first CUDA device, else the CPU. An Error of kind NotFound if the device
/// does not exist.
Result<settings::Device> decide_device(const settings::Device& asked,
                                       const Result<gpu::Driver>& driver);

/// The driver's name for the device that a configuration selects; empty if there is no such device.
std::string device_name(const settings::Device& device, const Result<gpu::Driver>& driver);

}  // namespace profline::session
