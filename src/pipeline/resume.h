#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/progress.h"
#include "base/result.h"
#include "pipeline/plan.h"
#include "process/runner.h"
#include "records/run_record.h"
#include "run/run.h"
#include "run/run_journal.h"

/// Resuming a run: what it was made from, and which of its stages run again.
namespace profline::pipeline {

/// Schedules inputs.yaml of the run to be written, from what a stage's workload recorded about its
/// inputs, or from the files that a user's command names. Does nothing if the stage wrote nothing.
Result<void> write_inputs(run::RunJournal& journal, const RunSetup& setup, const run::Run& files,
                          std::string_view stage);

/// What changed, in words, among the inputs that inputs.yaml names since the run read them; empty:
/// nothing. A run without that file has no inputs that could have changed.
std::vector<std::string> changed_inputs(const run::Run& run);

/// A digest of everything known before a stage runs that decides its result: the config of the
/// model, the inputs and this stage, every command it would run, the versions of its tools, the
/// user's rules for kernel classes where it applies them, and the model's files (names, sizes and
/// times, because weights are too large to read for this). What only matters to other stages is
/// not included.
std::string inputs_digest(const PlannedStage& planned, const RunPlan& plan);

/// Ends what a killed run left running: processes by pid and start time (only of this boot of this
/// machine), then nsys sessions. Returns what it ended, in words.
std::vector<std::string> end_leftovers(const RunRecord& record, const Toolbox& tools,
                                       ProcessRunner& processes);

/// What --resume does with a stage.
struct ResumeDecision {
  std::string stage;
  bool runs = false;
  std::string why;  ///< `it is ok and its inputs are the same`
};

/// The decision for each stage of the plan, from the record of the previous attempt; pure.
std::vector<ResumeDecision> decide_resume(const RunPlan& plan, const RunRecord& before,
                                          bool inputs_changed);

/// The overrides of the previous attempt, followed by those given now. One that was recorded
/// redacted must be given again, and then takes its old place; an Error of kind Config names the
/// ones that were not.
Result<std::vector<std::string>> resumed_overrides(const std::vector<std::string>& before,
                                                   std::vector<std::string> now);

/// Names the unfinished stages of the run that would be skipped now because their enable is auto
/// and what they need is gone. Nothing if there are no such stages.
std::optional<Error> lost_stages(const RunPlan& plan, const RunRecord& before);

/// The message for a resume that has nothing to run.
std::string nothing_to_run(const RunPlan& plan);

/// Enters the plan's stages into the record: those that run again as Pending, with their folders
/// moved to `attempts/<stage>-N` in the run; the others unchanged.
Result<void> enter_resumed(const RunPlan& plan, const std::vector<ResumeDecision>& decisions,
                           RunRecord& record);

}  // namespace profline::pipeline
