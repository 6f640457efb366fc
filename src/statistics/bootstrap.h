#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profline::statistics {

struct Interval {
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
};

struct Bootstrap {
  double confidence = 0.95;
  std::size_t resamples = 2000;
  /// The same values give the same interval, on every machine: reports must be comparable.
  std::uint64_t seed = 20261115;
};

/// Where the median of such measurements lies, by the percentile bootstrap: resamples of the same
/// size are drawn with replacement, and the interval holds the middle `confidence` of their
/// medians. `sorted` ascends and is not empty.
Interval median_interval(std::span<const double> sorted, const Bootstrap& options = {});

/// SplitMix64: the same numbers from every compiler and library, which std's distributions do not
/// promise.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// Evenly from 0 to `bound` - 1; `bound` is above 0.
  std::uint32_t below(std::uint32_t bound);

 private:
  std::uint64_t state_;
};

}  // namespace profline::statistics
