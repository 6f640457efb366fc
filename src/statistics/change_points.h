#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// Where the level of a series of runs changed.
namespace profline::statistics {

struct ChangePointRule {
  /// Changes up to this are irrelevant.
  double threshold = 0.01;
  /// How often chance alone may look like a change, per series.
  double chance = 1e-5;
};

struct ChangePoint {
  std::size_t at = 0;  ///< the first index of the new level
  double before = 0;   ///< median of the level that ends there
  double after = 0;    ///< median of the level that begins there
  double p = 1;        ///< how often chance alone gives such a step in such a series

  double change() const { return after / before - 1; }
  bool operator==(const ChangePoint&) const = default;
};

/// A level has at least this many values: fewer could be outliers.
inline constexpr std::size_t kShortestLevel = 4;

/// Steps in a series of positive values, in order. A value far from its neighbours is an outlier
/// and moves no level. Neighbours may be correlated: a series that wanders has no steps. Where a
/// straight line describes the series better than a step, it drifts, and no step is reported there.
std::vector<ChangePoint> change_points(std::span<const double> values,
                                       const ChangePointRule& rule = {});

/// The last value against the level of those before it, which is `level` long.
struct LastValue {
  double before = 0;  ///< median of the level
  double p = 1;       ///< how often a value of that level is as far from it
  double change = 0;  ///< relative to the level
  /// The smallest change that a single further value would show.
  double smallest = 0;
};
/// Nothing with fewer than kShortestLevel values before it.
std::optional<LastValue> last_value(std::span<const double> values,
                                    const ChangePointRule& rule = {});

}  // namespace profline::statistics
