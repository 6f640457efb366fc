#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/node.h"
#include "pipeline/plan.h"
#include "session/run_preparation.h"

/// What `profline plan` shows.
namespace profline::session {

/// One job of a plan, without secrets; a plan without --multirun has one.
struct PlannedJob {
  std::vector<std::string> overrides;
  pipeline::RunPlan plan;
};

/// The jobs as they are shown.
std::vector<PlannedJob> planned_jobs(const std::vector<PreparedRun>& runs);

/// The settings that all stages share, by full key.
NodeMap shared_settings(const Node& config);

/// `on`, `off` or `skipped`.
std::string_view state_text(const pipeline::PlannedStage& stage);

/// What `profline plan --format json` prints: docs/formats/plan.md. `script` is the batch script of
/// a sweep; empty without one.
Node plan_document(const std::vector<PlannedJob>& jobs, const std::string& script = {});

}  // namespace profline::session
