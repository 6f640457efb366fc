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

/// Defers inputs.yaml of the run, from what a stage's workload wrote about its inputs, or from the
/// files that a user's command names. Does nothing when the stage wrote nothing.
Result<void> write_inputs(run::RunJournal& journal, const RunSetup& setup, std::string_view stage);

/// Whether every input that inputs.yaml names is as it was when the run read it; what changed, in
/// words, when not. A run without that file has nothing that could have changed.
std::vector<std::string> changed_inputs(const run::Run& run);

/// A digest of all that decides a stage's result, as far as it is known before it runs: what the
/// config says about model, inputs and this stage, every command it would run, the versions of its
/// tools, and the model's files (names, sizes and times: weights are too large to read for this).
/// What only matters to other stages is no part of it.
std::string inputs_digest(const PlannedStage& planned, const RunPlan& plan);

}  // namespace profline::pipeline
