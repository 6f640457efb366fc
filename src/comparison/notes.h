#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comparison/comparison.h"
#include "comparison/run_measurements.h"

namespace profline::comparison {

/// What a reader of a comparison must know before its rows: different inputs, runs that are not
/// what they seem, files that could not be read, clocks.
std::vector<std::string> notes_of(std::span<const RunMeasurements> a,
                                  std::span<const RunMeasurements> b,
                                  const Differences& differences);

/// The SM clock of a side, over its runs; nothing when one of them did not record it.
std::optional<double> mean_clock(std::span<const RunMeasurements> side);

}  // namespace profline::comparison
