#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan.h"
#include "records/run_record.h"
#include "run/run_folder.h"
#include "session/configuration.h"
#include "session/services.h"

namespace profline::session {

/// The programs that were named; empty: those of the attempt before, else found by themselves.
struct ProgramChoice {
  std::string workload{};
  std::string nsys{};
  std::string ncu{};
  ToolsRecord remembered{};  ///< of the run to resume
};

/// Tools that were looked for already, by what was asked for.
struct ToolSurveys {
  std::map<std::string, pipeline::Toolbox> found;
};

/// One run to prepare.
struct RunWish {
  ConfigChoice choice{};
  ProgramChoice programs{};
  std::vector<std::string> argv{};   ///< as it was typed, for the record
  std::optional<std::size_t> job{};  ///< its number, of a multirun; its folder is sweep.dir's
  /// The sweep's folder, where that was made already.
  std::optional<std::filesystem::path> sweep_folder{};
  std::optional<std::filesystem::path> resume{};  ///< the run to go on with
  std::optional<std::uint64_t> sampling_seed{};   ///< of the run to go on with
  std::shared_ptr<ToolSurveys> surveys{};         ///< shared by jobs that are only checked
};

/// A run that could start: all that is known before anything of it runs. It does not move.
struct PreparedRun {
  std::unique_ptr<Configuration> configuration;
  /// Locked and made; none when only planning.
  std::optional<run::RunFolder> folder;
  bool folder_was_named = false;  ///< by an override
  pipeline::Stages stages;
  pipeline::RunPlan plan;
  std::vector<std::string> overrides;
};

/// The choice with one stage alone on, which runs the model for its answers. Predictions are on
/// unless an override says otherwise; what is added comes last, so that the user's overrides keep
/// their numbers in messages.
ConfigChoice for_answers(ConfigChoice choice);

enum class Making {
  Nothing,  ///< for plan: the folder is only chosen
  Folder,   ///< for run
};

/// Composes, chooses the folder, resolves, decides the device, looks for the tools and plans. The
/// Error tells what is wrong with the config; what is missing on the machine is in the plan's
/// findings.
Result<PreparedRun> prepare_run(const RunWish& wish, Making making, const Services& services);

/// Where the jobs of a multirun lie: hydra.sweep.dir, with a suffix where that is taken.
Result<run::FolderWish> sweep_folder_wish(const Configuration& configuration);

}  // namespace profline::session
