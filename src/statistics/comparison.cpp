#include "statistics/comparison.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "statistics/internal/level_change.h"
#include "statistics/significance.h"
#include "statistics/summary.h"

namespace profline::statistics {
namespace {

constexpr double kPower = 0.8;
/// Fewer say next to nothing about a spread: Student's factor is 12.7 for one.
constexpr double kLeastDegrees = 2;

/// For several runs of the same inputs, the geometric mean of each input; otherwise all units.
std::vector<double> units_of(const RunUnits& runs, bool paired) {
  if (!paired) {
    std::vector<double> all;
    for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
    return all;
  }
  std::vector<double> means(runs.front().size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    double sum = 0;
    for (const auto& run : runs) sum += std::log(run[i]);
    means[i] = std::exp(sum / static_cast<double>(runs.size()));
  }
  return means;
}

/// One value per run, as a logarithm: for the same inputs, the median of each input's ratio to its
/// own average, which leaves out the differences between inputs.
std::vector<double> run_values(const RunUnits& runs, const RunUnits& all, bool paired) {
  std::vector<double> values;
  if (!paired) {
    for (const auto& run : runs) values.push_back(std::log(median_of(run)));
    return values;
  }
  const std::vector<double> usual = units_of(all, true);
  for (const auto& run : runs) {
    std::vector<double> factors(run.size());
    for (std::size_t i = 0; i < run.size(); ++i) factors[i] = run[i] / usual[i];
    values.push_back(std::log(median_of(factors)));
  }
  return values;
}

std::optional<RunSpread> spread_of_logs(std::span<const std::vector<double>> groups) {
  double squares = 0;
  double degrees = 0;
  for (const auto& group : groups) {
    if (group.size() < 2) continue;
    const double mean = mean_of(group);
    for (const double value : group) squares += (value - mean) * (value - mean);
    degrees += static_cast<double>(group.size() - 1);
  }
  if (degrees == 0) return std::nullopt;
  return RunSpread{std::sqrt(squares / degrees), degrees, {}};
}

/// The change from one run of a group to another, as a logarithm.
double log_ratio_of(const std::vector<double>& a, const std::vector<double>& b, bool paired) {
  if (!paired) return std::log(median_of(b) / median_of(a));
  std::vector<double> logs(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) logs[i] = std::log(b[i] / a[i]);
  return median_of(logs);
}

/// The differences between any two runs of a group, ascending.
std::vector<double> differences_within(std::span<const RunUnits> groups, bool paired) {
  std::vector<double> found;
  for (const RunUnits& group : groups) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        found.push_back(std::abs(log_ratio_of(group[i], group[j], paired)));
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

double largest_difference(const RunSpread& spread) {
  return spread.differences.empty() ? 0 : spread.differences.back();
}

std::optional<RunSpread> seen_spread(const RunUnits& a, const RunUnits& b, bool paired) {
  RunUnits all = a;
  all.insert(all.end(), b.begin(), b.end());
  const std::vector<std::vector<double>> groups = {run_values(a, all, paired),
                                                   run_values(b, all, paired)};
  const auto spread = spread_of_logs(groups);
  return spread && spread->degrees >= kLeastDegrees ? spread : std::nullopt;
}

/// Whether the rank test can be significant: with few units even full separation is common.
bool ranks_can_decide(std::size_t a, std::size_t b, const ComparisonRule& rule) {
  double arrangements = 1;
  if (rule.paired) {
    arrangements = std::exp2(static_cast<double>(a));
  } else {
    for (std::size_t i = 1; i <= std::min(a, b) && arrangements < 1e9; ++i) {
      arrangements *= static_cast<double>(a + b + 1 - i) / static_cast<double>(i);
    }
  }
  return 2 / arrangements <= 1 - rule.bootstrap.confidence;
}

double rank_p(std::span<const double> a, std::span<const double> b, bool paired) {
  if (!paired) return mann_whitney(a, b).p;
  std::vector<double> differences(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) differences[i] = std::log(b[i] / a[i]);
  return signed_rank(differences).p;
}

/// What the spread between runs alone allows: half the width of the intervals, as logarithms, and
/// p.
struct RunEvidence {
  double half = 0;
  double half_one_sided = 0;
  double p = 1;
};

RunEvidence run_evidence(const RunSpread& spread, double log_ratio, std::size_t runs_a,
                         std::size_t runs_b, double confidence) {
  // With one run per side, the case that differences of two runs are measured for, this is 1.
  const double share =
      std::sqrt(0.5 / static_cast<double>(runs_a) + 0.5 / static_cast<double>(runs_b));
  const double deviation = std::sqrt(2.0) * share * spread.deviation;
  RunEvidence evidence;
  evidence.half = student_quantile((1 + confidence) / 2, spread.degrees) * deviation;
  evidence.half_one_sided = student_quantile(confidence, spread.degrees) * deviation;
  if (deviation > 0) {
    evidence.p = 2 * student_cdf(-std::abs(log_ratio) / deviation, spread.degrees);
  } else if (log_ratio != 0) {
    evidence.p = 0;
  }
  if (!spread.differences.empty()) {
    evidence.half = std::max(evidence.half, share * largest_difference(spread));
    evidence.half_one_sided =
        std::max(evidence.half_one_sided, share * quantile(spread.differences, 2 * confidence - 1));
  }
  return evidence;
}

Interval widened(const Interval& interval, double value, double half) {
  return {std::min(interval.low, value * std::exp(-half)),
          std::max(interval.high, value * std::exp(half))};
}

void widen(Ratio& ratio, const RunEvidence& evidence) {
  ratio.interval = widened(ratio.interval, ratio.value, evidence.half);
  ratio.one_sided = widened(ratio.one_sided, ratio.value, evidence.half_one_sided);
}

double log_width(const Interval& interval) {
  return std::log(interval.high / interval.low);
}

std::optional<double> smallest_effect(const Effect& effect, const ComparisonRule& rule) {
  const double half = 0.5 * log_width(effect.ratio.interval);
  if (!std::isfinite(half)) return std::nullopt;
  const double reach = normal_quantile((1 + rule.bootstrap.confidence) / 2);
  const double needed = half * (1 + normal_quantile(kPower) / reach);
  return std::expm1(std::log1p(rule.threshold) + needed);
}

}  // namespace

double RunSpread::difference_of_two() const {
  constexpr double kConfidence = 0.95;
  const double usual =
      student_quantile((1 + kConfidence) / 2, degrees) * std::sqrt(2.0) * deviation;
  return std::expm1(std::max(usual, largest_difference(*this)));
}

std::optional<RunSpread> spread_within(std::span<const RunUnits> groups, bool paired) {
  std::vector<std::vector<double>> values;
  for (const RunUnits& group : groups) {
    if (!group.empty()) values.push_back(run_values(group, group, paired));
  }
  auto spread = spread_of_logs(values);
  if (spread) spread->differences = differences_within(groups, paired);
  return spread;
}

Effect effect_of(const RunUnits& a, const RunUnits& b, const ComparisonRule& rule) {
  PL_ASSERT(!a.empty() && !b.empty(), "a comparison needs a run on each side");
  const std::vector<double> units_a = units_of(a, rule.paired);
  const std::vector<double> units_b = units_of(b, rule.paired);
  Effect effect;
  effect.ratio = rule.paired ? ratio_of_pairs(units_a, units_b, Centre::Median, rule.bootstrap)
                             : ratio_of_centres(units_a, units_b, Centre::Median, rule.bootstrap);
  const auto seen = seen_spread(a, b, rule.paired);
  const auto& spread = seen ? seen : rule.known_spread;
  effect.spread_is_seen = seen.has_value();
  const std::size_t fewest = std::min(units_a.size(), units_b.size());
  if (fewest < 2 && !spread) {
    effect.ratio.interval = {0, std::numeric_limits<double>::infinity()};
    effect.ratio.one_sided = effect.ratio.interval;
    return effect;
  }
  const bool by_ranks = ranks_can_decide(units_a.size(), units_b.size(), rule) || !spread;
  effect.p = by_ranks ? rank_p(units_a, units_b, rule.paired) : 0;
  if (spread) {
    const RunEvidence evidence = run_evidence(*spread, std::log(effect.ratio.value), a.size(),
                                              b.size(), rule.bootstrap.confidence);
    effect.p = std::max(effect.p, evidence.p);
    if (2 * evidence.half > log_width(effect.ratio.interval)) {
      effect.limit = seen ? Limit::SeenSpread : Limit::KnownSpread;
    }
    widen(effect.ratio, evidence);
  }
  effect.smallest = smallest_effect(effect, rule);
  return effect;
}

Verdict verdict_of(const Effect& effect, double adjusted_p, const ComparisonRule& rule,
                   Better better) {
  const double more = 1 + rule.threshold;
  const Interval& interval = effect.ratio.interval;
  const Interval& bounds = effect.ratio.one_sided;
  if (bounds.low >= 1 / more && bounds.high <= more) return Verdict::Same;
  if (adjusted_p > 1 - rule.bootstrap.confidence) return Verdict::Undecided;
  const bool lower_is_faster = better == Better::Lower;
  if (interval.high < 1 / more) return lower_is_faster ? Verdict::Faster : Verdict::Slower;
  if (interval.low > more) return lower_is_faster ? Verdict::Slower : Verdict::Faster;
  return Verdict::Undecided;
}

namespace {

/// A list, and the centres of resamples drawn from it.
class Resampler {
 public:
  Resampler(std::span<const double> values, Centre centre)
      : sorted_(values.begin(), values.end()), centre_(centre), times_drawn_(values.size()) {
    std::sort(sorted_.begin(), sorted_.end());
  }

  double own_centre() const {
    return centre_ == Centre::Mean ? mean_of(sorted_) : quantile(sorted_, 0.5);
  }

  double drawn_centre(RandomNumbers& random) {
    const auto size = static_cast<std::uint32_t>(sorted_.size());
    if (centre_ == Centre::Mean) {
      double sum = 0;
      for (std::uint32_t i = 0; i < size; ++i) sum += sorted_[random.below(size)];
      return sum / size;
    }
    std::fill(times_drawn_.begin(), times_drawn_.end(), 0U);
    for (std::uint32_t i = 0; i < size; ++i) ++times_drawn_[random.below(size)];
    return drawn_median();
  }

 private:
  double drawn_median() const {
    const std::size_t lower = (sorted_.size() - 1) / 2;
    const std::size_t upper = sorted_.size() / 2;
    std::size_t at = 0;
    std::size_t passed = times_drawn_[0];
    while (passed <= lower) passed += times_drawn_[++at];
    const double first = sorted_[at];
    while (passed <= upper) passed += times_drawn_[++at];
    return 0.5 * (first + sorted_[at]);
  }

  std::vector<double> sorted_;
  Centre centre_;
  std::vector<std::uint32_t> times_drawn_;
};

/// The share of each tail, reduced for short lists: the deviation of n values is too small by
/// sqrt((n - 1) / n), and a normal quantile is too small by the ratio to Student's.
double tail_share(double tail, double n) {
  if (n < 2) return 0;
  const double reach = std::sqrt(n / (n - 1)) * -student_quantile(tail, n - 1);
  return normal_cdf(-reach);
}

/// The intervals of a ratio of `n` values, from its resampled values.
void set_intervals(Ratio& ratio, std::vector<double> drawn, double confidence, std::size_t n) {
  std::sort(drawn.begin(), drawn.end());
  const auto between = [&](double tail) {
    const double share = tail_share(tail, static_cast<double>(n));
    return Interval{quantile(drawn, share), quantile(drawn, 1 - share)};
  };
  ratio.interval = between((1 - confidence) / 2);
  ratio.one_sided = between(1 - confidence);
}

void require_positive(std::span<const double> values) {
  PL_ASSERT(!values.empty(), "a ratio needs values on both sides");
  PL_ASSERT(std::all_of(values.begin(), values.end(), [](double value) { return value > 0; }),
            "a ratio is of values above 0");
}

}  // namespace

Ratio ratio_of_centres(std::span<const double> a, std::span<const double> b, Centre centre,
                       const Bootstrap& options) {
  require_positive(a);
  require_positive(b);
  Resampler from_a(a, centre);
  Resampler from_b(b, centre);
  Ratio ratio;
  ratio.value = from_b.own_centre() / from_a.own_centre();
  RandomNumbers random(options.seed);
  std::vector<double> ratios(options.resamples);
  for (double& drawn : ratios) {
    const double before = from_a.drawn_centre(random);
    drawn = from_b.drawn_centre(random) / before;
  }
  set_intervals(ratio, std::move(ratios), options.confidence, std::min(a.size(), b.size()));
  return ratio;
}

Ratio ratio_of_pairs(std::span<const double> a, std::span<const double> b, Centre centre,
                     const Bootstrap& options) {
  require_positive(a);
  require_positive(b);
  PL_ASSERT(a.size() == b.size(), "pairs have two sides");
  std::vector<double> logs(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) logs[i] = std::log(b[i] / a[i]);
  Resampler pairs(logs, centre);
  Ratio ratio;
  ratio.value = std::exp(pairs.own_centre());
  RandomNumbers random(options.seed);
  std::vector<double> ratios(options.resamples);
  for (double& drawn : ratios) drawn = std::exp(pairs.drawn_centre(random));
  set_intervals(ratio, std::move(ratios), options.confidence, logs.size());
  return ratio;
}

}  // namespace profline::statistics
