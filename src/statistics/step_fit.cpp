#include "statistics/internal/step_fit.h"

#include <algorithm>
#include <cmath>

#include "statistics/internal/level_change.h"
#include "statistics/significance.h"

namespace profline::statistics {
namespace {

/// Beyond this correlation of neighbours a series holds next to no independent values.
constexpr double kMostCorrelation = 0.95;

}  // namespace

Line line_through(std::span<const double> values) {
  const double mean = mean_of(values);
  const double middle = static_cast<double>(values.size() - 1) / 2;
  double products = 0;
  double squares = 0;
  double all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    products += x * (values[i] - mean);
    squares += square(x);
    all += square(values[i] - mean);
  }
  const double slope = products / squares;
  return {slope, squares, std::max(all - slope * products, 0.0)};
}

Noise noise_of(std::span<const double> apart, double fitted) {
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    squares += square(apart[i]);
    if (i > 0) products += apart[i] * apart[i - 1];
  }
  const auto n = static_cast<double>(apart.size());
  const double seen = squares > 0 ? products / squares : 0;
  const double rho = std::clamp(seen + fitted * (1 + 3 * seen) / n, 0.0, kMostCorrelation);
  const double thinning = (1 - rho) / (1 + rho);
  const double degrees = std::max(n * thinning - fitted, 1.0);
  return {std::sqrt(squares / std::max(n - fitted, 1.0)), thinning, degrees};
}

double chance_of(double value, double scale, const Noise& noise, std::size_t tests) {
  const double error = scale * noise.deviation / std::sqrt(noise.thinning);
  if (error <= std::abs(value) * 1e-12) return value != 0 ? 0 : 1;
  const double once = 2 * student_cdf(-std::abs(value) / error, noise.degrees);
  return std::min(once * static_cast<double>(tests), 1.0);
}

}  // namespace profline::statistics
