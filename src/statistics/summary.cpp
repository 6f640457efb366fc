#include "statistics/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace profline::statistics {

std::vector<double> block_means(std::span<const double> in_order, std::size_t most) {
  PL_ASSERT(most > 0, "values go into at least one block");
  if (in_order.size() <= most) return {in_order.begin(), in_order.end()};
  std::vector<double> means;
  means.reserve(most);
  for (std::size_t block = 0; block < most; ++block) {
    const std::size_t first = block * in_order.size() / most;
    const std::size_t end = (block + 1) * in_order.size() / most;
    const auto values = in_order.subspan(first, end - first);
    means.push_back(std::accumulate(values.begin(), values.end(), 0.0) /
                    static_cast<double>(values.size()));
  }
  return means;
}

std::uint64_t RandomNumbers::next() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

std::uint32_t RandomNumbers::below(std::uint32_t bound) {
  // Lemire, "Fast Random Integer Generation in an Interval" (2019): a product instead of a
  // division, and a second draw in the rare case that would favour small numbers. The division that
  // detects this case is itself rare.
  for (;;) {
    const std::uint64_t product = (next() >> 32U) * bound;
    const auto low = static_cast<std::uint32_t>(product);
    if (low >= bound || low >= (0U - bound) % bound) {
      return static_cast<std::uint32_t>(product >> 32U);
    }
  }
}

Interval median_interval(std::span<const double> sorted, const Bootstrap& options) {
  PL_ASSERT(!sorted.empty(), "an interval needs a value");
  PL_ASSERT(sorted.size() <= std::numeric_limits<std::uint32_t>::max(), "so many are never kept");
  PL_ASSERT(options.resamples > 0, "an interval needs a resample");
  if (sorted.size() == 1) return {sorted.front(), sorted.front()};

  // The values are ascending, so the median of a resample is found among positions, which are
  // smaller and faster to draw and to partition than the values.
  const auto size = static_cast<std::uint32_t>(sorted.size());
  std::vector<std::uint32_t> positions(size);
  std::vector<double> medians(options.resamples);
  RandomNumbers random(options.seed);
  const auto middle = positions.begin() + size / 2;
  for (double& median : medians) {
    for (std::uint32_t& position : positions) position = random.below(size);
    std::nth_element(positions.begin(), middle, positions.end());
    median = sorted[*middle];
    if (size % 2 == 0) {
      median = 0.5 * (median + sorted[*std::max_element(positions.begin(), middle)]);
    }
  }
  std::sort(medians.begin(), medians.end());
  const double tail = (1.0 - options.confidence) / 2.0;
  return {quantile(medians, tail), quantile(medians, 1.0 - tail)};
}

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
  // The mean of equal values is that value, however the division rounds.
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
