#include "statistics/blocks.h"

#include <numeric>

#include "base/assert.h"

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

}  // namespace profline::statistics
