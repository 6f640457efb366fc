#include "statistics/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "statistics/internal/level_change.h"
#include "statistics/internal/step_fit.h"
#include "statistics/significance.h"

namespace profline::statistics {
namespace {

/// Values on each side of one that its neighbourhood has.
constexpr std::size_t kNeighbours = 3;
/// A value that is this many deviations from its neighbourhood is an outlier.
constexpr double kFar = 4;
/// The deviation of Gaussian noise, from the median of its absolute values.
constexpr double kFromMedian = 1.4826;

std::vector<double> logs_of(std::span<const double> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

/// The median of absolute values, as a deviation.
double deviation_of(std::span<const double> apart) {
  std::vector<double> sizes;
  sizes.reserve(apart.size());
  for (const double value : apart) sizes.push_back(std::abs(value));
  return kFromMedian * median_of(sizes);
}

/// The series with outliers moved to the edge of what is usual around them. A step stays where it
/// is.
std::vector<double> without_outliers(std::span<const double> logs) {
  if (logs.empty()) return {};
  std::vector<double> around;
  std::vector<double> apart;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const std::size_t first = i < kNeighbours ? 0 : i - kNeighbours;
    const std::size_t end = std::min(i + kNeighbours + 1, logs.size());
    around.push_back(median_of(logs.subspan(first, end - first)));
    apart.push_back(logs[i] - around.back());
  }
  const double far = kFar * deviation_of(apart);
  std::vector<double> kept;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    kept.push_back(around[i] + std::clamp(apart[i], -far, far));
  }
  return kept;
}

/// A straight line must describe a series worse than a step by this factor.
constexpr double kBetterThanALine = 1.3;
/// More levels than one per so many values are not looked for.
constexpr std::size_t kValuesPerLevel = 8;

/// The ends of levels: the series is cut at each but the last, which is its size.
using Ends = std::vector<std::size_t>;

/// The best ways to cut a series into 1, 2, … levels: those that leave the least squared
/// deviations.
class Partitions {
 public:
  Partitions(std::span<const double> values, std::size_t most)
      : sums_(values), size_(values.size()) {
    cost_.assign(most + 1, std::vector<double>(size_ + 1, kNever));
    from_.assign(most + 1, std::vector<std::size_t>(size_ + 1, 0));
    for (std::size_t end = kShortestLevel; end <= size_; ++end) cost_[1][end] = sums_.of(0, end);
    for (std::size_t levels = 2; levels <= most; ++levels) {
      for (std::size_t end = levels * kShortestLevel; end <= size_; ++end) choose(levels, end);
    }
  }

  /// The best cut into so many levels.
  Ends ends(std::size_t levels) const {
    Ends ends;
    for (std::size_t end = size_; levels > 0; end = from_[levels][end], --levels) {
      ends.push_back(end);
    }
    std::reverse(ends.begin(), ends.end());
    return ends;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// Squared deviations of a part from its own mean.
  class Sums {
   public:
    explicit Sums(std::span<const double> values) : sums_(1), squares_(1) {
      const double mean = mean_of(values);  // sums of the values themselves would lose digits
      for (const double value : values) {
        sums_.push_back(sums_.back() + (value - mean));
        squares_.push_back(squares_.back() + square(value - mean));
      }
    }
    double of(std::size_t first, std::size_t end) const {
      const double sum = sums_[end] - sums_[first];
      return squares_[end] - squares_[first] - square(sum) / static_cast<double>(end - first);
    }

   private:
    std::vector<double> sums_;
    std::vector<double> squares_;
  };

  void choose(std::size_t levels, std::size_t end) {
    for (std::size_t at = (levels - 1) * kShortestLevel; at + kShortestLevel <= end; ++at) {
      const double cost = cost_[levels - 1][at] + sums_.of(at, end);
      if (cost >= cost_[levels][end]) continue;
      cost_[levels][end] = cost;
      from_[levels][end] = at;
    }
  }

  Sums sums_;
  std::size_t size_;
  std::vector<std::vector<double>> cost_;       ///< by levels and end
  std::vector<std::vector<std::size_t>> from_;  ///< the end of the level before
};

double sum_of_squares(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += square(value);
  return sum;
}

struct Step {
  std::size_t at;
  double p;
};

/// The steps between these levels; nothing unless each of them is one.
std::optional<std::vector<Step>> steps_between(std::span<const double> logs, const Ends& ends,
                                               const ChangePointRule& rule) {
  std::vector<double> apart;
  std::vector<double> means;
  for (std::size_t level = 0, first = 0; level < ends.size(); first = ends[level++]) {
    means.push_back(mean_of(logs.subspan(first, ends[level] - first)));
    for (std::size_t i = first; i < ends[level]; ++i) apart.push_back(logs[i] - means.back());
  }
  const Noise noise = noise_of(apart, static_cast<double>(ends.size()));
  std::vector<Step> steps;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const std::size_t first = i == 0 ? 0 : ends[i - 1];
    const double rise = means[i + 1] - means[i];
    if (std::abs(rise) < std::log1p(rule.threshold)) return std::nullopt;
    const std::span<const double> both = logs.subspan(first, ends[i + 1] - first);
    const std::span<const double> left = std::span(apart).subspan(first, both.size());
    if (line_through(both).left_over < kBetterThanALine * sum_of_squares(left)) {
      return std::nullopt;  // it drifts
    }
    const double scale = std::sqrt(1 / static_cast<double>(ends[i] - first) +
                                   1 / static_cast<double>(ends[i + 1] - ends[i]));
    const double p = chance_of(rise, scale, noise, logs.size() * ends.size());
    if (p > rule.chance) return std::nullopt;
    steps.push_back({ends[i], p});
  }
  return steps;
}

/// The most levels between which each step is one.
std::vector<Step> steps_in(std::span<const double> logs, const ChangePointRule& rule) {
  if (logs.size() < 2 * kShortestLevel) return {};
  const std::size_t most = std::max<std::size_t>(2, logs.size() / kValuesPerLevel);
  const Partitions partitions(logs, most);
  for (std::size_t levels = most; levels > 1; --levels) {
    if (auto steps = steps_between(logs, partitions.ends(levels), rule)) return std::move(*steps);
  }
  return {};
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> values,
                                       const ChangePointRule& rule) {
  const std::vector<Step> steps = steps_in(without_outliers(logs_of(values)), rule);
  std::vector<ChangePoint> found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t first = i == 0 ? 0 : steps[i - 1].at;
    const std::size_t end = i + 1 == steps.size() ? values.size() : steps[i + 1].at;
    found.push_back({.at = steps[i].at,
                     .before = median_of(values.subspan(first, steps[i].at - first)),
                     .after = median_of(values.subspan(steps[i].at, end - steps[i].at)),
                     .p = steps[i].p});
  }
  return found;
}

std::optional<LastValue> last_value(std::span<const double> values, const ChangePointRule& rule) {
  if (values.size() < kShortestLevel + 1) return std::nullopt;
  const std::span<const double> earlier = values.first(values.size() - 1);
  const auto steps = change_points(earlier, rule);
  const std::span<const double> level = steps.empty() ? earlier : earlier.subspan(steps.back().at);
  const std::vector<double> logs = logs_of(level);
  const double middle = median_of(logs);
  std::vector<double> apart = without_outliers(logs);
  for (double& value : apart) value -= middle;
  const auto n = static_cast<double>(apart.size());
  const Noise noise{std::sqrt(sum_of_squares(apart) / (n - 1)), 1, n - 1};
  const double scale = std::sqrt(1 + 1 / n);
  const double distance = std::log(values.back()) - middle;
  // What the level itself has shown can happen at any time.
  double widest = 0;
  for (const double value : logs) widest = std::max(widest, std::abs(value - middle));
  LastValue last;
  last.before = median_of(level);
  last.change = values.back() / last.before - 1;
  last.p = std::abs(distance) <= widest ? 1 : chance_of(distance, scale, noise, 1);
  const double reach = -student_quantile(rule.chance / 2, noise.degrees) * scale * noise.deviation;
  last.smallest = std::expm1(std::max({reach, widest, std::log1p(rule.threshold)}));
  return last;
}

}  // namespace profline::statistics
