#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/stage.h"

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

}  // namespace profline::pipeline
