#pragma once

#include <filesystem>
#include <optional>
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

/// What --resume does with a stage.
struct ResumeDecision {
  std::string stage;
  bool runs = false;
  std::string why;  ///< `it is ok and its inputs are the same`
};

/// Of each stage of the plan, by the record of the attempt before; pure.
std::vector<ResumeDecision> decide_resume(const RunPlan& plan, const RunRecord& before,
                                          bool inputs_changed);

/// The overrides of the attempt before, then those given now. One that was redacted when it was
/// written down has to be given again, and takes its place then; an Error of kind Config names
/// those that were not.
Result<std::vector<std::string>> resumed_overrides(const std::vector<std::string>& before,
                                                   std::vector<std::string> now);

/// Stages of the run that are not finished and would be skipped now: their enable is auto, and what
/// they need is no longer there. Nothing when there are none.
std::optional<Error> lost_stages(const RunPlan& plan, const RunRecord& before);

/// What there is to say of a resume that runs nothing.
std::string nothing_to_run(const RunPlan& plan);

/// Puts the plan's stages into the record: those that run again as Pending, their folders moved to
/// `attempts/<stage>-N` in the run; the others as they were.
Result<void> enter_resumed(const RunPlan& plan, const std::vector<ResumeDecision>& decisions,
                           RunRecord& record);

}  // namespace profline::pipeline
