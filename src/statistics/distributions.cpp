#include "statistics/distributions.h"

#include <cmath>
#include <limits>

#include "base/assert.h"

namespace profline::statistics {
namespace {

/// The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 10'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int term = 1; term <= kMostTerms; ++term) {
    const double m = term;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return value;
}

/// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  // The fraction converges quickly on this side of the mean only.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/// The place at which a growing function of the reals reaches `goal`.
template <typename Function>
double inverse(const Function& function, double goal) {
  double low = -1;
  double high = 1;
  while (function(low) > goal && std::isfinite(low)) low *= 2;
  while (function(high) < goal && std::isfinite(high)) high *= 2;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (function(middle) < goal ? low : high) = middle;
  }
}

}  // namespace

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

double normal_quantile(double p) {
  PL_ASSERT(p > 0 && p < 1, "a quantile of the normal distribution is of a share within it");
  // In the lower half both ends are told apart by small numbers, which doubles hold best.
  if (p > 0.5) return -normal_quantile(1 - p);
  return inverse(normal_cdf, p);
}

double student_cdf(double t, double degrees) {
  PL_ASSERT(degrees > 0, "Student's distribution has degrees of freedom");
  if (!std::isfinite(degrees)) return normal_cdf(t);
  if (!std::isfinite(t)) return t < 0 ? 0 : 1;
  const double tail = 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
  return t < 0 ? tail : 1 - tail;
}

double student_quantile(double p, double degrees) {
  PL_ASSERT(p > 0 && p < 1, "a quantile of Student's distribution is of a share within it");
  if (!std::isfinite(degrees)) return normal_quantile(p);
  if (p > 0.5) return -student_quantile(1 - p, degrees);
  return inverse([&](double t) { return student_cdf(t, degrees); }, p);
}

}  // namespace profline::statistics
