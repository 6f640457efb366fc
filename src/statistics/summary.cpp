#include "statistics/summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/assert.h"

namespace profline::statistics {
namespace {

/// Neumaier's compensated sum: a mean of nanoseconds loses no digits to its number of terms.
double sum_of(std::span<const double> values) {
  double sum = 0;
  double lost = 0;
  for (const double value : values) {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return sum + lost;
}

double population_deviation(std::span<const double> values, double mean) {
  std::vector<double> squares;
  squares.reserve(values.size());
  for (const double value : values) squares.push_back((value - mean) * (value - mean));
  return std::sqrt(sum_of(squares) / static_cast<double>(values.size()));
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  PL_ASSERT(!sorted.empty(), "a quantile needs a value");
  PL_ASSERT(q >= 0 && q <= 1, "a share lies between 0 and 1");
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double share = place - static_cast<double>(below);
  return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

std::optional<Summary> summarise(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  Summary summary;
  summary.n = sorted.size();
  // Of equal values the mean is that value, whatever the division rounds to.
  summary.mean = std::clamp(sum_of(sorted) / static_cast<double>(sorted.size()), sorted.front(),
                            sorted.back());
  summary.std = population_deviation(sorted, summary.mean);
  summary.median = quantile(sorted, 0.5);
  summary.p90 = quantile(sorted, 0.9);
  summary.p99 = quantile(sorted, 0.99);
  summary.min = sorted.front();
  summary.max = sorted.back();
  summary.median_ci95 = median_interval(sorted);
  return summary;
}

}  // namespace profline::statistics
