#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Statistics of a list of measurements, without units.
namespace profline::statistics {

/// Means of at most `most` runs of neighbours, of lengths as equal as possible. Consecutive
/// measurements are not independent (a warm cache, a drifting clock, tokens of one text): taken one
/// by one they overstate what is known. Means of long enough blocks are nearly independent. If
/// there are at most `most` values, they stay as they are.
std::vector<double> block_means(std::span<const double> in_order, std::size_t most);

struct Interval {
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
};

struct Bootstrap {
  double confidence = 0.95;
  std::size_t resamples = 2000;
  /// The same values give the same interval on every machine: reports must be comparable.
  std::uint64_t seed = 20261115;
};

/// The confidence interval of the median, by the percentile bootstrap: resamples of the same size
/// are drawn with replacement, and the interval contains the middle `confidence` of their medians.
/// `sorted` is ascending and not empty.
Interval median_interval(std::span<const double> sorted, const Bootstrap& options = {});

/// SplitMix64: the same numbers with every compiler and library, which std's distributions do not
/// guarantee.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// Uniform from 0 to `bound` - 1; `bound` is above 0.
  std::uint32_t below(std::uint32_t bound);

 private:
  std::uint64_t state_;
};

/// The value below which the share `q` (0 to 1) of `sorted` lies: linear between neighbours, like
/// NumPy's default and R's type 7. `sorted` is ascending and not empty.
double quantile(std::span<const double> sorted, double q);

struct Summary {
  std::size_t n = 0;
  double mean = 0;
  double std = 0;  ///< of the population: 0 for one value
  double median = 0;
  double p90 = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;
  Interval median_ci95;  ///< by bootstrap; both ends are the value itself for one value

  bool operator==(const Summary&) const = default;
};

/// Nothing without values. Values are finite; their order does not matter, not even to the last
/// bit.
std::optional<Summary> summarise(std::span<const double> values);

}  // namespace profline::statistics
