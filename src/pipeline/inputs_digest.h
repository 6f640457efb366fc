#pragma once

#include <string>

#include "pipeline/plan.h"

namespace profline::pipeline {

/// A digest of all that decides a stage's result, as far as it is known before it runs: what the
/// config says about model, inputs and this stage, every command it would run, the versions of its
/// tools, and the model's files (names, sizes and times: weights are too large to read for this).
/// What only matters to other stages is no part of it.
std::string inputs_digest(const PlannedStage& planned, const RunPlan& plan);

}  // namespace profline::pipeline
