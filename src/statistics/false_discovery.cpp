#include "statistics/false_discovery.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace profline::statistics {

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return p_values[i] > p_values[j]; });
  std::vector<double> adjusted(p_values.size());
  double least = 1;
  const auto count = static_cast<double>(p_values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double rank = count - static_cast<double>(i);  // from the smallest p, which has 1
    least = std::min(least, p_values[order[i]] * count / rank);
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace profline::statistics
