#pragma once

#include <optional>
#include <vector>

#include "records/run_summary.h"
#include "run/artifacts.h"

namespace profline::summary {

/// The bandwidth that the run's floors were computed with (from the device table, measured, or from
/// MEM_BANDWIDTH_GBS), else the one that ncu's DRAM throughput implies for 100 %. Shares that
/// include caches are never used: they would make the roof too low. Nothing: neither is known.
std::optional<SummaryMemoryRoof> memory_roof(const run::Run& run,
                                             const std::vector<PhaseSummary>& phases);

}  // namespace profline::summary
