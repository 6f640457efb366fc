#include "statistics/significance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "base/error.h"

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
  // The fraction converges quickly only on this side of the mean.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/// Where an increasing function of the reals reaches `goal`.
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

constexpr std::size_t kExactValues = 40;
constexpr std::size_t kExactPairs = 50;

struct Ranks {
  std::vector<std::size_t> doubled;  // twice the rank of each value, so that ties stay whole
  double tie_term = 0;               // sum of t^3 - t over groups of t equal values
};

/// Equal values share the mean of their ranks.
Ranks ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  Ranks ranks;
  ranks.doubled.resize(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) ranks.doubled[order[i]] = first + end + 1;
    const auto ties = static_cast<double>(end - first);
    ranks.tie_term += ties * ties * ties - ties;
    first = end;
  }
  return ranks;
}

/// Both tails of a distribution over whole numbers, each at least as far out as `observed`.
double two_sided(const std::vector<double>& ways, std::size_t observed, std::size_t twice_centre) {
  const auto distance = [&](std::size_t sum) {
    return sum * 2 > twice_centre ? sum * 2 - twice_centre : twice_centre - sum * 2;
  };
  double as_far = 0;
  double all = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    all += ways[sum];
    if (distance(sum) >= distance(observed)) as_far += ways[sum];
  }
  return std::min(1.0, as_far / all);
}

double normal_p(double distance, double variance) {
  if (variance <= 0) return 1;
  // Continuity correction: half a rank belongs to the other side.
  const double z = std::max(0.0, distance - 0.5) / std::sqrt(variance);
  return std::min(1.0, 2 * normal_cdf(-z));
}

/// The number of ways in which `chosen` of the ranks add up to each sum.
std::vector<double> ways_to_choose(const std::vector<std::size_t>& ranks, std::size_t chosen) {
  const std::size_t most = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1, 0.0));
  ways[0][0] = 1;
  for (const std::size_t rank : ranks) {
    for (std::size_t count = chosen; count >= 1; --count) {
      for (std::size_t sum = most; sum >= rank; --sum) {
        ways[count][sum] += ways[count - 1][sum - rank];
      }
    }
  }
  return std::move(ways[chosen]);
}

/// The number of ways in which any of the ranks add up to each sum.
std::vector<double> ways_to_sign(const std::vector<std::size_t>& ranks) {
  const std::size_t most = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<double> ways(most + 1, 0.0);
  ways[0] = 1;
  for (const std::size_t rank : ranks) {
    for (std::size_t sum = most; sum >= rank; --sum) ways[sum] += ways[sum - rank];
  }
  return ways;
}

}  // namespace

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

double normal_quantile(double p) {
  PL_ASSERT(p > 0 && p < 1, "a quantile of the normal distribution is of a share within it");
  // In the lower half both ends are distinguished by small numbers, which doubles represent best.
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

RankTest mann_whitney(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return {};
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  const Ranks ranks = ranks_of(all);
  const auto a_end = ranks.doubled.begin() + static_cast<std::ptrdiff_t>(a.size());
  const std::size_t sum = std::accumulate(ranks.doubled.begin(), a_end, std::size_t{0});
  const std::size_t n = all.size();
  // Doubled ranks of a are expected to add up to |a| (n + 1).
  if (n <= kExactValues) {
    return {two_sided(ways_to_choose(ranks.doubled, a.size()), sum, 2 * a.size() * (n + 1)), true};
  }
  const auto size_a = static_cast<double>(a.size());
  const auto size_b = static_cast<double>(b.size());
  const auto size = static_cast<double>(n);
  const double distance = std::abs(0.5 * static_cast<double>(sum) - size_a * (size + 1) / 2);
  const double variance =
      size_a * size_b / 12 * ((size + 1) - ranks.tie_term / (size * (size - 1)));
  return {normal_p(distance, variance), false};
}

RankTest signed_rank(std::span<const double> differences) {
  std::vector<double> sizes;
  std::vector<bool> is_positive;
  for (const double difference : differences) {
    if (difference == 0) continue;
    sizes.push_back(std::abs(difference));
    is_positive.push_back(difference > 0);
  }
  if (sizes.empty()) return {};
  const Ranks ranks = ranks_of(sizes);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) sum += is_positive[i] ? ranks.doubled[i] : 0;
  const std::size_t n = sizes.size();
  if (n <= kExactPairs) return {two_sided(ways_to_sign(ranks.doubled), sum, n * (n + 1)), true};
  const auto size = static_cast<double>(n);
  const double distance = std::abs(0.5 * static_cast<double>(sum) - size * (size + 1) / 4);
  const double variance = size * (size + 1) * (2 * size + 1) / 24 - ranks.tie_term / 48;
  return {normal_p(distance, variance), false};
}

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return p_values[i] > p_values[j]; });
  std::vector<double> adjusted(p_values.size());
  double least = 1;
  const auto count = static_cast<double>(p_values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double rank = count - static_cast<double>(i);  // from the smallest p, which has 1
    least = std::min(least, p_values[order[i]] * count / rank);
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace profline::statistics
