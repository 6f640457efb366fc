#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "statistics/internal/level_change.h"

/// Steps and lines through a series, and how often noise alone looks like one.
namespace profline::statistics {

inline double square(double value) {
  return value * value;
}

/// The sum of squared deviations from each part's own mean, if the series is cut at `at`.
class Cuts {
 public:
  explicit Cuts(std::span<const double> values)
      : sums_(values.size() + 1), squares_(values.size() + 1) {
    // Sums of the values themselves would lose digits.
    const double mean = mean_of(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums_[i + 1] = sums_[i] + (values[i] - mean);
      squares_[i + 1] = squares_[i] + square(values[i] - mean);
    }
  }
  double rise(std::size_t at) const {
    const auto head = static_cast<double>(at);
    const double tail = static_cast<double>(sums_.size() - 1) - head;
    return (sums_.back() - sums_[at]) / tail - sums_[at] / head;
  }
  double left_over(std::size_t at) const {
    const auto head = static_cast<double>(at);
    const double tail = static_cast<double>(sums_.size() - 1) - head;
    return std::max(
        squares_.back() - square(sums_[at]) / head - square(sums_.back() - sums_[at]) / tail, 0.0);
  }
  /// The same, of the part after the cut alone.
  double after(std::size_t at) const {
    const double tail = static_cast<double>(sums_.size() - 1 - at);
    return std::max(squares_.back() - squares_[at] - square(sums_.back() - sums_[at]) / tail, 0.0);
  }
  /// The cut with the least left over.
  std::size_t best() const {
    std::size_t best = 1;
    for (std::size_t at = 2; at + 1 < sums_.size(); ++at) {
      if (left_over(at) < left_over(best)) best = at;
    }
    return best;
  }

 private:
  std::vector<double> sums_;
  std::vector<double> squares_;
};

struct Line {
  double slope = 0;   ///< per element
  double spread = 0;  ///< sum of squared distances of the places from their middle
  double left_over = 0;
};

Line line_through(std::span<const double> values);

/// Deviations from a model of the series, as noise whose neighbours may be correlated.
struct Noise {
  double deviation = 0;
  double thinning = 1;  ///< a correlated value is worth this many independent ones
  double degrees = 1;
};

/// `fitted`: how many parameters the model has. The correlation of neighbours is corrected for the
/// bias of a short series (Kendall 1954), once per parameter.
Noise noise_of(std::span<const double> apart, double fitted);

/// The probability that chance makes a value as large as this one, whose error is `scale`
/// deviations of independent noise, in one of `tests` tests.
double chance_of(double value, double scale, const Noise& noise, std::size_t tests);

}  // namespace profline::statistics
