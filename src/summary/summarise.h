#pragma once

#include "records/run_summary.h"
#include "summary/run_artifacts.h"

namespace profline::summary {

/// All that a run's artifacts come to, joined and judged. Pure: what is not there is told, and
/// nothing stands for it.
RunSummary summarise(const RunArtifacts& run);

}  // namespace profline::summary
