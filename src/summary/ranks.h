#pragma once

#include <optional>

#include "records/rank_analysis.h"
#include "run/run.h"

namespace profline::summary {

/// The ranks of a program, compared: from nsys' captures if they show enough collectives of several
/// ranks, else from the torch profiler's, else from what the ranks measured without a profiler. The
/// workers of a server are ranks too: the processes in its capture, or those that left a trace
/// each. Nothing if the run has no two ranks.
///
/// Reads the captures of all ranks, two at a time, and keeps none of them.
std::optional<RankAnalysis> ranks_of(const run::Run& run);

}  // namespace profline::summary
