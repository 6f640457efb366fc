#pragma once

#include "records/run_summary.h"
#include "run/artifacts.h"

namespace profline::summary {

/// All that a run's artifacts come to, joined and judged. Pure: what is not there is told, and
/// nothing stands for it.
RunSummary summarise(const run::Run& run);

}  // namespace profline::summary
