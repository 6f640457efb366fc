#pragma once

#include <numeric>
#include <span>

namespace profline::statistics {

/// `values` is not empty.
inline double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace profline::statistics
