#pragma once

#include <span>

#include "statistics/summary.h"

namespace profline::statistics {

/// What stands for a list of values.
enum class Centre { Median, Mean };

/// What becomes of a when it changes to b, as a factor.
struct Ratio {
  double value = 1;
  Interval interval{1, 1};
  /// Each end is a bound at the confidence on its own: what two one-sided tests ask for. Lies
  /// within `interval`.
  Interval one_sided{1, 1};

  bool operator==(const Ratio&) const = default;
};

/// Centre of b by centre of a, both resampled independently. Values are above 0; neither list is
/// empty. The interval is the bootstrap's percentile one, widened for short lists as by Hesterberg
/// ("What Teachers Should Know About the Bootstrap", 2015, section 4.3), whose plain form is too
/// narrow for them.
Ratio ratio_of_centres(std::span<const double> a, std::span<const double> b,
                       Centre centre = Centre::Median, const Bootstrap& options = {});

/// Median (or geometric mean) of b[i] / a[i] over pairs, which are resampled whole: what makes one
/// input slower than the next is in both and cancels. As many values in a as in b.
Ratio ratio_of_pairs(std::span<const double> a, std::span<const double> b,
                     Centre centre = Centre::Median, const Bootstrap& options = {});

}  // namespace profline::statistics
