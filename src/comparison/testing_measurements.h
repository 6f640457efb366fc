#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comparison/run_measurements.h"

namespace profline::comparison {

/// A run with a metric of these units, one per image.
RunMeasurements measured_run(std::string id, std::vector<double> units,
                             const std::string& metric = "token_ms");

/// `n` values around `centre` with a relative deviation, the same for a seed everywhere.
std::vector<double> noisy(std::uint64_t seed, std::size_t n, double centre, double deviation);

/// Adds a kernel.
void add_kernel(RunMeasurements& run, const std::string& name, std::vector<double> units);

/// Text that would do harm in HTML, Markdown or on a terminal.
std::vector<std::string> hostile_names();

}  // namespace profline::comparison
