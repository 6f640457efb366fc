#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "statistics/bootstrap.h"

/// What a list of measurements comes to. Nothing here knows units.
namespace profline::statistics {

/// The value below which the share `q` (0 to 1) of `sorted` lies: linear between neighbours, as
/// NumPy's default and R's type 7 have it. `sorted` ascends and is not empty.
double quantile(std::span<const double> sorted, double q);

struct Summary {
  std::size_t n = 0;
  double mean = 0;
  double std = 0;  ///< of the population: 0 for one value
  double median = 0;
  double p90 = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;
  Interval median_ci95;  ///< by bootstrap; both ends are the value itself for one value

  bool operator==(const Summary&) const = default;
};

/// Nothing for no values. Values are finite; their order does not matter, not even to the last bit.
std::optional<Summary> summarise(std::span<const double> values);

}  // namespace profline::statistics
