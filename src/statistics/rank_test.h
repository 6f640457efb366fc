#pragma once

#include <span>

/// Tests that ask for the order of values only, so that a single stray measurement decides nothing.
namespace profline::statistics {

struct RankTest {
  /// How often two lists from one source differ at least as much, in either direction; 1 when
  /// there is nothing to compare.
  double p = 1;
  bool exact = false;  ///< from all arrangements, ties included; else by the normal distribution
};

/// Mann and Whitney's test of two independent lists. Exact up to 40 values in all.
RankTest mann_whitney(std::span<const double> a, std::span<const double> b);

/// Wilcoxon's signed-rank test of paired differences against 0; pairs without a difference do not
/// count. Exact up to 50 pairs.
RankTest signed_rank(std::span<const double> differences);

}  // namespace profline::statistics
