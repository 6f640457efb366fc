#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/plan.h"

namespace profline {

/// One job of a plan, without secrets; a plan without --multirun has one.
struct PlannedJob {
  std::vector<std::string> overrides;
  pipeline::RunPlan plan;
};

/// Each stage with its commands, changes, limits and what preflight found; for people.
std::string plan_text(const std::vector<PlannedJob>& jobs, bool is_multirun);

/// docs/formats/plan.md
Result<std::string> plan_json(const std::vector<PlannedJob>& jobs);

}  // namespace profline
