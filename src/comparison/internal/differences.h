#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comparison/compare.h"
#include "comparison/comparison.h"
#include "comparison/run_measurements.h"

namespace profline::comparison {

/// What differs between the sides besides their measurements, using the first run of each. Clocks
/// at the start of a run do not count as a difference of the machine.
Differences differences_between(const RunMeasurements& a, const RunMeasurements& b);

/// What a reader must know of a side whose runs are not of the same thing; empty if they are.
std::vector<std::string> disagreements(std::span<const RunMeasurements> side);

/// What a reader of a comparison must know before its rows: different inputs, misleading runs,
/// unreadable files, clocks.
std::vector<std::string> notes_of(std::span<const RunMeasurements> a,
                                  std::span<const RunMeasurements> b,
                                  const Differences& differences);

/// The mean SM clock of a side over its runs; nothing if one of them did not record it.
std::optional<double> mean_clock(std::span<const RunMeasurements> side);

// When measurements are no basis for a verdict, whatever they show.

/// Whether something else took too much of the run's time.
bool is_disturbed(const RunMeasurements& run);

/// Why no row can have a verdict, because of what happened to the runs; empty if rows can. One
/// disturbed run is enough if a side has only one run. If both have several, their spread includes
/// the disturbance, unless one side was disturbed far more often.
std::string disturbed_reason(std::span<const RunMeasurements> a,
                             std::span<const RunMeasurements> b);

/// Why a row whose sides have too few runs to show their spread has no verdict; empty if it can.
std::string spread_reason(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b,
                          KnownSpread::Basis basis);

/// Marks the run of a side that opens a series as left out, if three others remain.
void leave_out_openers(std::span<RunMeasurements> side);

}  // namespace profline::comparison
