#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/progress.h"
#include "base/result.h"
#include "pipeline/plan.h"
#include "process/runner.h"
#include "records/run_record.h"

namespace profline::pipeline {

/// Ends what a run that was killed left running: processes by pid and start time (of this boot of
/// this machine only), then sessions of nsys. Tells what it ended.
std::vector<std::string> end_leftovers(const RunRecord& record, const Toolbox& tools,
                                       ProcessRunner& processes);

/// Whether every input that inputs.yaml names is as it was when the run read it; what changed, in
/// words, when not. A run without that file has nothing that could have changed.
std::vector<std::string> changed_inputs(const std::filesystem::path& run);

/// What --resume does with a stage.
struct ResumeDecision {
  std::string stage;
  bool runs = false;
  std::string why;  ///< `it is ok and its inputs are the same`
};

/// Of each stage of the plan, by the record of the attempt before; pure.
std::vector<ResumeDecision> decide_resume(const RunPlan& plan, const RunRecord& before,
                                          bool inputs_changed);

/// Puts the plan's stages into the record: those that run again as Pending, their folders moved to
/// `attempts/<stage>-N` in the run; the others as they were.
Result<void> enter_resumed(const RunPlan& plan, const std::vector<ResumeDecision>& decisions,
                           RunRecord& record);

}  // namespace profline::pipeline
