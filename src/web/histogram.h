#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace profline::web {

/// How many values lie in each of the bins between neighbouring edges, the last edge included.
/// Where a few values are far out, the bins end below them and `above` counts them.
struct Histogram {
  std::vector<double> edges;
  std::vector<double> counts;
  std::size_t above = 0;
};
Histogram histogram(std::vector<double> values, std::size_t bins);

/// What the values of one place in a series come to, over many series.
struct Band {
  double first = 0;  ///< places from here
  double last = 0;   ///< to here are taken together
  double low = 0;    ///< the tenth percentile
  double median = 0;
  double high = 0;  ///< the ninetieth
  std::size_t n = 0;
};
/// Series of different lengths side by side; neighbouring places are taken together so that there
/// are at most `most` bands.
std::vector<Band> bands(std::span<const std::vector<double>> series, std::size_t most);

}  // namespace profline::web
