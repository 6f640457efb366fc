#pragma once

#include <cstddef>
#include <numeric>
#include <optional>
#include <span>

#include "statistics/steady_state.h"

/// Changes of level in a series of logarithms. docs/steady-state.md has the formulas.
namespace profline::statistics {

/// A change of level smaller than this share is too small to matter.
inline constexpr double kMaterial = 0.05;

struct LevelChange {
  std::size_t at = 0;     ///< the first index of the later level
  double rise = 0;        ///< the later level less the earlier one
  bool is_trend = false;  ///< a straight line describes the series better than a step
};

/// The first change found that is significant and large enough to matter; nothing without one.
/// `examined`: how many series are searched.
std::optional<LevelChange> level_change(std::span<const double> logs, std::size_t examined = 1);

/// The two levels between which the series alternates; nothing unless they are far apart compared
/// with the spread around them, and both are visited more than once.
std::optional<Levels> alternating_levels(std::span<const double> logs);

double median_of(std::span<const double> values);

/// `values` is not empty.
inline double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace profline::statistics
