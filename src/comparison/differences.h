#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comparison/compare.h"
#include "comparison/comparison.h"
#include "comparison/run_measurements.h"

namespace profline::comparison {

/// What differs between the sides beside their measurements, by the first run of each. Clocks at
/// the start of a run are no difference of the machine.
Differences differences_between(const RunMeasurements& a, const RunMeasurements& b);

/// What a reader must know of a side whose runs are not of one thing; nothing when they are.
std::vector<std::string> disagreements(std::span<const RunMeasurements> side);

/// What a reader of a comparison must know before its rows: different inputs, runs that are not
/// what they seem, files that could not be read, clocks.
std::vector<std::string> notes_of(std::span<const RunMeasurements> a,
                                  std::span<const RunMeasurements> b,
                                  const Differences& differences);

/// The SM clock of a side, over its runs; nothing when one of them did not record it.
std::optional<double> mean_clock(std::span<const RunMeasurements> side);

// When measurements are no basis for a verdict, whatever they say.

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
