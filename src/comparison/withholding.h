#pragma once

#include <span>
#include <string>

#include "comparison/compare.h"
#include "comparison/run_measurements.h"

/// When measurements are no basis for a verdict, whatever they say.
namespace profline::comparison {

/// Whether something else took too much of the run's time.
bool is_disturbed(const RunMeasurements& run);

/// Why nothing can be said of any row, because of what happened to the runs; empty: it can. One
/// disturbed run is enough where a side has one run only. Where both have several, the spread that
/// they show has the disturbance in it, unless one side was disturbed far more often.
std::string disturbed_reason(std::span<const RunMeasurements> a,
                             std::span<const RunMeasurements> b);

/// Why nothing can be said of a row whose sides have too few runs to show their spread; empty: it
/// can.
std::string spread_reason(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b,
                          KnownSpread::Basis basis);

/// Marks the run of a side that opens the series as left out, where three others remain.
void leave_out_openers(std::span<RunMeasurements> side);

}  // namespace profline::comparison
