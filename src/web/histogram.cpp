#include "web/internal/histogram.h"

#include <algorithm>

#include "statistics/summary.h"

namespace profline::web {

Histogram histogram(std::vector<double> values, std::size_t bins) {
  Histogram result;
  if (values.empty() || bins == 0) return result;
  std::sort(values.begin(), values.end());
  const double low = values.front();
  double high = values.back();
  // One slow token in a thousand must not squeeze all others into one bin.
  const double far = statistics::quantile(values, 0.99);
  const double median = statistics::quantile(values, 0.5);
  if (high - median > 4 * (far - median) && far > low) high = far;
  const double width = high > low ? (high - low) / static_cast<double>(bins) : 1;
  if (high <= low) bins = 1;
  for (std::size_t i = 0; i <= bins; ++i) {
    result.edges.push_back(low + width * static_cast<double>(i));
  }
  result.counts.assign(bins, 0);
  for (const double value : values) {
    if (value > high) {
      ++result.above;
      continue;
    }
    const auto bin = static_cast<std::size_t>((value - low) / width);
    result.counts[std::min(bin, bins - 1)] += 1;
  }
  return result;
}

std::vector<Band> bands(std::span<const std::vector<double>> series, std::size_t most) {
  std::size_t longest = 0;
  for (const auto& values : series) longest = std::max(longest, values.size());
  if (longest == 0 || most == 0) return {};
  const std::size_t step = (longest + most - 1) / most;
  std::vector<Band> result;
  for (std::size_t from = 0; from < longest; from += step) {
    std::vector<double> together;
    for (const auto& values : series) {
      const std::size_t to = std::min(from + step, values.size());
      for (std::size_t i = from; i < to; ++i) together.push_back(values[i]);
    }
    std::sort(together.begin(), together.end());
    Band band;
    band.first = static_cast<double>(from);
    band.last = static_cast<double>(std::min(from + step, longest) - 1);
    band.low = statistics::quantile(together, 0.1);
    band.median = statistics::quantile(together, 0.5);
    band.high = statistics::quantile(together, 0.9);
    band.n = together.size();
    result.push_back(band);
  }
  return result;
}

}  // namespace profline::web
