#pragma once

#include "records/run_summary.h"
#include "run/artifacts.h"

namespace profline::summary {

/// Joins and judges all artifacts of a run. Pure. Missing artifacts are reported as missing and
/// never substituted.
RunSummary summarise(const run::Run& run);

}  // namespace profline::summary
