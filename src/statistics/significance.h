#pragma once

#include <span>
#include <vector>

/// Whether a difference may be due to chance.
namespace profline::statistics {

// The two distributions that tests and intervals need; accurate to double precision, on every
// machine.

/// Share of the standard normal distribution below `z`.
double normal_cdf(double z);
/// The value below which the share `p` of it lies; 0 < p < 1.
double normal_quantile(double p);

/// The same for Student's t with `degrees` > 0 of freedom; with infinitely many it is normal.
double student_cdf(double t, double degrees);
double student_quantile(double p, double degrees);

// Tests that use only the order of values, so that a single outlier decides nothing.

struct RankTest {
  /// How often two lists from one source differ at least as much, in either direction; 1 if there
  /// is nothing to compare.
  double p = 1;
  bool exact = false;  ///< from all arrangements, ties included; else by the normal distribution
};

/// Mann and Whitney's test of two independent lists. Exact up to 40 values in total.
RankTest mann_whitney(std::span<const double> a, std::span<const double> b);

/// Wilcoxon's signed-rank test of paired differences against 0; pairs without a difference are
/// ignored. Exact up to 50 pairs.
RankTest signed_rank(std::span<const double> differences);

/// Benjamini and Hochberg's adjustment of the p values of many tests: among those whose adjusted
/// value is at most q, the expected share of wrong ones is at most q. In the given order; each at
/// least its p, at most 1.
std::vector<double> benjamini_hochberg(std::span<const double> p_values);

}  // namespace profline::statistics
