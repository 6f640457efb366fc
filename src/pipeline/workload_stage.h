#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/stage.h"
#include "settings/root.h"

/// What stages that run the workload have in common.
namespace profline::pipeline {

/// What keeps the workload from running: the program, the model's files or the dataset are not
/// there; of a user's command, its program or the folder it starts in.
std::vector<Finding> workload_preflight(const StageContext& context);

/// Which files of a model with weights something reads; each includes those before it.
enum class ModelFiles : std::uint8_t { Config, Tokenizer, Weights };

/// A Problem when `model.path` lacks some of these files; nothing for a model without weights.
std::optional<Finding> model_preflight(const StageContext& context, ModelFiles files);

/// A Problem when the config names a program of the user's own, of which this stage can say
/// nothing: `why` ends the sentence.
std::optional<Finding> refuse_users_command(const StageContext& context, std::string_view stage,
                                            std::string_view why);

/// Runs the plan's commands in order, up to the first that does not succeed, which is told. True
/// when all did.
Result<bool> run_commands(const StagePlan& plan, StageRun& run);

/// What workload.json in `folder` says could not be had, and whether the run was stopped early.
std::vector<Finding> workload_remarks(const std::filesystem::path& folder);

/// A Problem for each of the files that is not in `folder`, or is empty.
std::vector<Finding> missing_files(const std::filesystem::path& folder,
                                   std::initializer_list<std::string_view> names);

/// The NVTX ranges that the built-in workload opens with these settings, docs/formats/workload.md
/// has them; none for a user's command, of which nobody can say.
std::vector<std::string> workload_ranges(const settings::Root& settings);

/// How many of the baseline's requests a profiled stage gives its workload, and which key says so.
struct ProfiledRequests {
  enum class Reason {
    Samples,    ///< pipeline.<stage>.samples
    Bounded,    ///< all: dataset.sampling.num_samples_per_epoch bounds their number
    Unbounded,  ///< one: nothing bounds it
    Program     ///< a program of the user's own is not given any
  };
  Reason reason = Reason::Program;
  std::optional<std::uint32_t> count{};  ///< the first so many; nothing: all of them
};

/// `samples` is the stage's own setting.
ProfiledRequests profiled_requests(const settings::Root& settings,
                                   std::optional<std::uint32_t> samples);

/// Says in the plan which requests are profiled, and why these.
void add_requests(const ProfiledRequests& requests, std::string_view stage,
                  const settings::Root& settings, StagePlan& plan);

}  // namespace profline::pipeline
