#pragma once

#include <span>
#include <vector>

namespace profline::statistics {

/// Benjamini and Hochberg's adjustment of the p values of many questions that are asked together:
/// of those whose adjusted value is at most q, a share of q is wrong at the most, on average. In
/// the order given; each at least its p, at most 1.
std::vector<double> benjamini_hochberg(std::span<const double> p_values);

}  // namespace profline::statistics
