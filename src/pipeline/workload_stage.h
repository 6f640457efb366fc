#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/stage.h"
#include "process/runner.h"
#include "records/run_record.h"
#include "settings/root.h"

/// Shared by the stages that run the workload.
namespace profline::pipeline {

/// Findings that prevent the workload from running: the program, the model's files or the dataset
/// are missing; for a user's command, its program or the folder it starts in.
std::vector<Finding> workload_preflight(const StageContext& context);

/// Which files of a model with weights are needed; each value includes the previous ones.
enum class ModelFiles : std::uint8_t { Config, Tokenizer, Weights };

/// A Problem if `model.path` lacks some of these files; nothing for a model without weights.
std::optional<Finding> model_preflight(const StageContext& context, ModelFiles files);

/// A Problem if the config names a user's program, which this stage cannot handle; `why` ends the
/// sentence.
std::optional<Finding> refuse_users_command(const StageContext& context, std::string_view stage,
                                            std::string_view why);

/// Runs the plan's commands in order, up to the first that fails, which is reported. True if all
/// succeeded.
Result<bool> run_commands(const StagePlan& plan, StageRun& run);

/// Findings from workload.json in `folder`: what was not available, and whether the run was stopped
/// early.
std::vector<Finding> workload_remarks(const std::filesystem::path& folder);

/// A Problem for each of the files that is missing from `folder`, or is empty.
std::vector<Finding> missing_files(const std::filesystem::path& folder,
                                   std::initializer_list<std::string_view> names);

/// The NVTX ranges that the built-in workload opens with these settings (see
/// docs/formats/workload.md); empty for a user's command, whose ranges are not known.
std::vector<std::string> workload_ranges(const settings::Root& settings);

/// Why the built-in model runs in the eager engine although the config lets the fast one run on a
/// GPU; nothing if that does not follow from the config.
std::optional<std::string> engine_note(const settings::Root& settings);

/// How many of the baseline's requests a profiled stage passes to its workload, and which key
/// decides.
struct ProfiledRequests {
  enum class Reason {
    Samples,    ///< pipeline.<stage>.samples
    Bounded,    ///< all: dataset.sampling.num_samples_per_epoch limits their number
    Unbounded,  ///< one, because nothing limits their number
    Program     ///< not applicable to a user's program
  };
  Reason reason = Reason::Program;
  std::optional<std::uint32_t> count{};  ///< only the first ones; absent: all
};

/// `samples` is the stage's own setting.
ProfiledRequests profiled_requests(const settings::Root& settings,
                                   std::optional<std::uint32_t> samples);

/// Notes in the plan which requests are profiled, and why.
void add_requests(const ProfiledRequests& requests, std::string_view stage,
                  const settings::Root& settings, StagePlan& plan);

/// The finding for a child that ended without success: which child, how it ended, its last line of
/// output, and where the rest is.
Finding child_problem(const PlannedCommand& planned, const Exit& exit);

/// The last meaningful line of a child's output, cut if it is too long to read.
std::string last_words(const std::string& tail);

/// How many processes the out-of-memory killer has killed; nothing where the kernel does not report
/// it.
struct MemoryKills {
  std::optional<std::uint64_t> group;    ///< in our control group, version 1 or 2
  std::optional<std::uint64_t> machine;  ///< anywhere

  bool operator==(const MemoryKills&) const = default;
};

/// `root`: where /proc and /sys are.
MemoryKills memory_kills(const std::filesystem::path& root = "/");

/// The finding for a child that ended badly while the out-of-memory killer was active: a process
/// killed in our group must have been the child's, one killed elsewhere may have been.
std::optional<Finding> out_of_memory(const PlannedCommand& planned, const Exit& exit,
                                     const MemoryKills& before, const MemoryKills& after);

}  // namespace profline::pipeline
