#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace profline::ranks::internal {

/// The value of which the share `at` of all values is no larger; 0 without values. It occurs
/// among them. Linear in their number, for values that need not be sorted.
template <typename T>
T quantile(std::vector<T> values, double at) {
  if (values.empty()) return {};
  const auto place = static_cast<std::size_t>(at * static_cast<double>(values.size() - 1) + 0.5);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace profline::ranks::internal
