#pragma once

#include <span>

#include "comparison/comparison.h"
#include "comparison/run_measurements.h"

namespace profline::comparison {

/// What differs between the sides beside their measurements, by the first run of each. Clocks at
/// the start of a run are no difference of the machine.
Differences differences_between(const RunMeasurements& a, const RunMeasurements& b);

/// What a reader must know of a side whose runs are not of one thing; nothing when they are.
std::vector<std::string> disagreements(std::span<const RunMeasurements> side);

}  // namespace profline::comparison
