#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/plan.h"
#include "run/run.h"
#include "run/run_journal.h"

/// What a run was made from: written down as it starts, and compared by --resume.
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

}  // namespace profline::pipeline
