#pragma once

#include <span>

#include "statistics/summary.h"

namespace profline::statistics {

/// How a list of values is summarised.
enum class Centre { Median, Mean };

/// The change from a to b, as a factor.
struct Ratio {
  double value = 1;
  Interval interval{1, 1};
  /// Each end is a bound at the confidence on its own, as two one-sided tests require. Lies within
  /// `interval`.
  Interval one_sided{1, 1};

  bool operator==(const Ratio&) const = default;
};

/// Centre of b divided by centre of a, both resampled independently. Values are above 0; neither
/// list is empty. The interval is the bootstrap's percentile interval, widened for short lists,
/// where it is too narrow, as in Hesterberg ("What Teachers Should Know About the Bootstrap", 2015,
/// section 4.3).
Ratio ratio_of_centres(std::span<const double> a, std::span<const double> b,
                       Centre centre = Centre::Median, const Bootstrap& options = {});

/// Median (or geometric mean) of b[i] / a[i] over pairs, which are resampled as pairs: differences
/// between inputs are in both and cancel. a and b have the same number of values.
Ratio ratio_of_pairs(std::span<const double> a, std::span<const double> b,
                     Centre centre = Centre::Median, const Bootstrap& options = {});

}  // namespace profline::statistics
