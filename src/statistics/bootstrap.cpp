#include "statistics/bootstrap.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/assert.h"
#include "statistics/summary.h"

namespace profline::statistics {

std::uint64_t RandomNumbers::next() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

std::uint32_t RandomNumbers::below(std::uint32_t bound) {
  // Lemire, "Fast Random Integer Generation in an Interval" (2019): a product instead of a
  // division, and a second draw in the rare case that would favour small numbers. The division
  // that tells this case is itself rare.
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

  // The values ascend, so the median of a resample is found among positions, which are smaller and
  // quicker to draw and to part than the values.
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

}  // namespace profline::statistics
