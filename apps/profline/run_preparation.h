#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "configuration.h"
#include "pipeline/plan.h"
#include "pipeline/run_folder.h"
#include "records/run_record.h"
#include "verb.h"

namespace profline {

/// The options of commands that run or plan stages.
std::vector<Option> run_options();

/// The programs that were named; empty: those of the attempt before, else found by themselves.
struct ProgramChoice {
  std::string workload{};
  std::string nsys{};
  std::string ncu{};
  ToolsRecord remembered{};  ///< of the run to resume
};
/// Names that are paths come back absolute, as a run remembers them.
ProgramChoice program_choice(const Arguments& arguments);

/// Tools that were looked for already, by what was asked for.
struct ToolSurveys {
  std::map<std::string, pipeline::Toolbox> found;
};

/// One run to prepare.
struct RunWish {
  ConfigChoice choice;
  ProgramChoice programs{};
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
  std::optional<pipeline::RunFolder> folder;
  bool folder_was_named = false;  ///< by an override
  pipeline::Stages stages;
  pipeline::RunPlan plan;
  std::vector<std::string> overrides;
};

enum class Making {
  Nothing,  ///< for plan: the folder is only chosen
  Folder,   ///< for run
};

/// Composes, chooses the folder, resolves, decides the device, looks for the tools and plans. The
/// Error tells what is wrong with the config; what is missing on the machine is in the plan's
/// findings.
Result<PreparedRun> prepare_run(const RunWish& wish, Making making, const Services& services,
                                const OutputOptions& output);

/// Where the jobs of a multirun lie: hydra.sweep.dir, with a suffix where that is taken.
Result<pipeline::FolderWish> sweep_folder_wish(const Configuration& configuration);

}  // namespace profline
