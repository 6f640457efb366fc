#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

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

/// Whether something changed between two sides, each measured once or several times.
namespace profline::statistics {

/// The measurements of one side: per run, a list of its units. Units can be taken as independent of
/// each other: an image with all its tokens, a block of launches (summary.h). Values are above 0;
/// no list is empty.
using RunUnits = std::vector<std::vector<double>>;

/// How much runs of the same thing differ: the standard deviation of a run's value, relative to it.
struct RunSpread {
  double deviation = 0;
  /// Degrees of freedom: runs minus groups of runs. Infinite if the deviation was given.
  double degrees = std::numeric_limits<double>::infinity();
  /// The differences between any two runs of a group, as logarithms, ascending; empty if the
  /// deviation was given. Runs stray further and more often than a deviation suggests.
  std::vector<double> differences = {};

  bool operator==(const RunSpread&) const = default;
  /// How much two runs may differ: the repeatability limit of ISO 5725 (95 %), and at least as much
  /// as two of these did.
  double difference_of_two() const;
};

/// The pooled spread within groups of runs of the same thing; nothing if no group has two runs.
/// `paired`: unit i is the same input in every run of a group, and two runs differ by the median of
/// the differences of their inputs; otherwise by their medians.
std::optional<RunSpread> spread_within(std::span<const RunUnits> groups, bool paired);

struct ComparisonRule {
  /// Changes up to this are irrelevant.
  double threshold = 0.01;
  /// Unit i is the same input in every run of both sides.
  bool paired = false;
  /// The known spread of such runs. Used if the sides have too few runs to show their own.
  std::optional<RunSpread> known_spread = {};
  Bootstrap bootstrap = {};
};

/// What determines the width of an interval.
enum class Limit { Units, SeenSpread, KnownSpread };

struct Effect {
  Ratio ratio;  ///< of b to a
  /// How often chance alone causes a difference like this.
  double p = 1;
  /// The smallest true change that such a comparison detects in 4 of 5 cases; nothing if it cannot
  /// detect any.
  std::optional<double> smallest = {};
  Limit limit = Limit::Units;
  bool spread_is_seen = false;  ///< the compared runs show their own spread
};

/// The interval is the wider of two: from the units, and from the spread between runs, be it
/// observed (four or more runs on both sides together) or known. So one run per side never shows a
/// change below the known spread, however many units it has, nor one as large as two runs of the
/// same thing have differed.
Effect effect_of(const RunUnits& a, const RunUnits& b, const ComparisonRule& rule);

enum class Verdict { Faster, Slower, Same, Undecided };
enum class Better { Lower, Higher };

/// Same: two one-sided tests show that the change is within the threshold (Schuirmann 1987), that
/// is, both ends of the one-sided interval are. Faster, Slower: the whole interval is beyond it,
/// and `adjusted_p`, which accounts for the number of tests, is small enough. Otherwise Undecided.
Verdict verdict_of(const Effect& effect, double adjusted_p, const ComparisonRule& rule,
                   Better better);

}  // namespace profline::statistics
