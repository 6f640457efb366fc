#pragma once

#include "records/run_summary.h"
#include "report/run_artifacts.h"

namespace profline::report {

/// All that a run's artifacts come to, joined and judged. Pure: what is not there is told, and
/// nothing stands for it.
RunSummary summarise(const RunArtifacts& run);

}  // namespace profline::report
