#pragma once

#include <string>

#include "records/run_summary.h"

namespace profline::report {

/// The stage that takes the most time; null without stages.
const SummaryStage* largest_stage(const RunSummary& summary);

/// One sentence without its full stop: which stage takes the time, what bounds it, the numbers that
/// say so and what that allows at most; or why there is no verdict.
std::string verdict_of(const RunSummary& summary);

}  // namespace profline::report
