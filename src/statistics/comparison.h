#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "statistics/ratio.h"

/// Whether something changed between two sides that were measured once or several times.
namespace profline::statistics {

/// What one side measured: a list a run, of its units. A unit is what can be taken for independent
/// of the next one: an image with all its tokens, a block of launches (blocks.h). Values are above
/// 0; no list is empty.
using RunUnits = std::vector<std::vector<double>>;

/// How far apart runs of one and the same thing are: the deviation of a run's value, relative to
/// it.
struct RunSpread {
  double deviation = 0;
  /// What it is known from: runs less groups of runs. Infinite: it was stated.
  double degrees = std::numeric_limits<double>::infinity();
  /// By how much any two runs of a group differ, as logarithms, ascending; empty: it was stated.
  /// Runs stray further and more often than a deviation tells.
  std::vector<double> differences = {};

  bool operator==(const RunSpread&) const = default;
  /// By how much two runs may differ: 95 of 100 times (the repeatability limit of ISO 5725), and as
  /// much as two of these did.
  double difference_of_two() const;
};

/// The pooled spread within groups of runs of the same thing; nothing when no group has two runs.
/// `paired`: unit i is the same input in every run of a group, and two runs differ by the median of
/// what their inputs differ by, else by their medians.
std::optional<RunSpread> spread_within(std::span<const RunUnits> groups, bool paired);

struct ComparisonRule {
  /// Changes up to this do not matter.
  double threshold = 0.01;
  /// Unit i is the same input in every run of both sides.
  bool paired = false;
  /// What is known of such runs otherwise. Used where the sides have too few to tell themselves.
  std::optional<RunSpread> known_spread = {};
  Bootstrap bootstrap = {};
};

/// Where the width of an interval is from.
enum class Limit { Units, SeenSpread, KnownSpread };

struct Effect {
  Ratio ratio;  ///< of b to a
  /// How often a difference like this comes by chance alone.
  double p = 1;
  /// The smallest true change that such a comparison tells from none in 4 of 5 cases; nothing when
  /// it could not tell any.
  std::optional<double> smallest = {};
  Limit limit = Limit::Units;
  bool spread_is_seen = false;  ///< the runs compared tell their spread themselves
};

/// The interval is the wider one of two: what the units say, and what the spread between runs
/// allows, be it seen (four runs and more on both sides together) or known. So one run a side
/// never tells a change below the known spread, however many units it has, nor one that two runs of
/// the same thing have shown.
Effect effect_of(const RunUnits& a, const RunUnits& b, const ComparisonRule& rule);

enum class Verdict { Faster, Slower, Same, Undecided };
enum class Better { Lower, Higher };

/// Same: two one-sided tests say that the change is within the threshold (Schuirmann 1987): both
/// ends of the one-sided interval are. Faster, Slower: all of the interval lies beyond, and
/// `adjusted_p`, which counts how many questions were asked, is small enough. Else Undecided.
Verdict verdict_of(const Effect& effect, double adjusted_p, const ComparisonRule& rule,
                   Better better);

}  // namespace profline::statistics
