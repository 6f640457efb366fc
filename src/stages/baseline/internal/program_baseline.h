#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/stage.h"
#include "settings/pipeline.h"
#include "stages/ranks/ranked_stage.h"
#include "workloads/program/adapter_start.h"
#include "workloads/program/recording.h"

/// The baseline of a user's own program.
namespace profline::stages::internal {

/// What it will write and what will not be recorded.
void add_program_plan(const pipeline::StageContext& context, pipeline::StagePlan& plan);

/// Runs the program once, samples its processes and its GPU, and writes what it recorded of itself:
/// requests.jsonl, models.json, steady.json; without requests, ranges.json.
/// The same for a program with ranks.
Result<void> run_ranks(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                       const RankRunOf& run_of, pipeline::StageRun& run);

Result<void> run_program(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                         pipeline::StageRun& run);

/// What explains that a program made no requests.
struct ProgramEnd {
  bool has_failed = false;
  std::optional<program::NotAdapted> not_adapted{};
};

/// How many requests were recorded and by whom; what was lost; without requests, the reason, or how
/// to mark them.
std::vector<pipeline::Finding> recording_findings(const program::Recording& recording,
                                                  const settings::Workload& workload,
                                                  const ProgramEnd& end = {});

}  // namespace profline::stages::internal
