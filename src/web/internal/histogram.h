#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace profline::web {

/// The number of values in each bin between neighbouring edges, the last edge included. If a few
/// values are far out, the bins end below them and `above` counts them.
struct Histogram {
  std::vector<double> edges;
  std::vector<double> counts;
  std::size_t above = 0;
};
Histogram histogram(std::vector<double> values, std::size_t bins);

/// The distribution of the values at one place (or a few neighbouring ones) of many series.
struct Band {
  double first = 0;  ///< first place of the band
  double last = 0;   ///< last place of the band
  double low = 0;    ///< the tenth percentile
  double median = 0;
  double high = 0;  ///< the ninetieth
  std::size_t n = 0;
};
/// Aligns series of different lengths by place; neighbouring places are merged so that there are at
/// most `most` bands.
std::vector<Band> bands(std::span<const std::vector<double>> series, std::size_t most);

}  // namespace profline::web
