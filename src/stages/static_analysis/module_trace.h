#pragma once

#include <filesystem>
#include <vector>

#include "analysis/static_model/static_compute.h"
#include "base/result.h"
#include "stages/static_analysis/analysis_subject.h"

namespace profline::stages {

/// What the workload traced of the module graph (static_trace.json), beside closed forms for the
/// very shapes it traced.
Result<std::vector<static_model::TracedStage>> compare_with_trace(
    const AnalysisSubject& subject, const std::filesystem::path& static_trace);

}  // namespace profline::stages
