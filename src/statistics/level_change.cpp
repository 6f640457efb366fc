#include "statistics/internal/level_change.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "statistics/internal/step_fit.h"
#include "statistics/summary.h"

namespace profline::statistics {
namespace {

/// The probability with which chance alone may look like a change of level in one of the series
/// that are examined.
constexpr double kChance = 0.0002;
/// Longer series are examined as this many means of neighbours.
constexpr std::size_t kMostBlocks = 128;
/// How far apart two levels must be, in standard deviations around them. Gaussian noise, split at
/// its best place, gives 2.7.
constexpr double kApart = 4.5;
constexpr double kSmallestShare = 0.1;
constexpr std::size_t kFewestVisits = 4;
constexpr std::size_t kFewestToCut = 5;
/// A drift of any form: by this factor, and by this many standard deviations of the noise.
constexpr double kGrossDrift = 1.3;
constexpr double kGrossDriftDeviations = 8;

std::vector<double> apart_from(std::span<const double> values, double level) {
  std::vector<double> apart(values.begin(), values.end());
  for (double& value : apart) value -= level;
  return apart;
}

bool is_material(double change) {
  return std::abs(change) >= std::log1p(kMaterial);
}

/// Where a head is cut off by MSER (White 1997): the cut that makes the error of the remaining mean
/// smallest. At most half of the series is cut off.
std::size_t truncation(const Cuts& cuts, std::size_t size) {
  std::size_t best = 0;
  double least = cuts.after(0) / square(static_cast<double>(size));
  for (std::size_t at = 1; at <= size / 2; ++at) {
    const double error = cuts.after(at) / square(static_cast<double>(size - at));
    if (error >= least) continue;
    best = at;
    least = error;
  }
  return best;
}

/// A head that differs from everything after it. The noise is that of the rest alone: the head may
/// have any shape, such as a decay.
std::optional<LevelChange> head_change(std::span<const double> values, const Cuts& cuts,
                                       double chance) {
  const std::size_t at = truncation(cuts, values.size());
  if (at == 0 || !is_material(cuts.rise(at))) return std::nullopt;
  const std::span<const double> rest = values.subspan(at);
  const Noise noise = noise_of(apart_from(rest, mean_of(rest)), 1);
  const double scale =
      std::sqrt(1 / static_cast<double>(at) + 1 / static_cast<double>(rest.size()));
  if (chance_of(cuts.rise(at), scale, noise, values.size()) > chance) return std::nullopt;
  // MSER tends to cut off a little more than the step itself; what is left is examined again.
  const std::size_t step = std::min(at, cuts.best());
  return LevelChange{step, cuts.rise(step), false};
}

/// A straight line that describes the series better than any step.
std::optional<LevelChange> trend(std::span<const double> values, const Cuts& cuts, double chance) {
  const Line line = line_through(values);
  const auto n = static_cast<double>(values.size());
  if (!is_material(line.slope * n) || line.left_over > cuts.left_over(cuts.best())) {
    return std::nullopt;
  }
  std::vector<double> apart = apart_from(values, mean_of(values));
  for (std::size_t i = 0; i < apart.size(); ++i) {
    apart[i] -= line.slope * (static_cast<double>(i) - (n - 1) / 2);
  }
  const double scale = 1 / std::sqrt(line.spread);
  if (chance_of(line.slope, scale, noise_of(apart, 2), 1) > chance) return std::nullopt;
  return LevelChange{0, line.slope * n, true};
}

/// One step, wherever it is.
std::optional<LevelChange> step(std::span<const double> values, const Cuts& cuts, double chance) {
  const std::size_t at = cuts.best();
  if (!is_material(cuts.rise(at))) return std::nullopt;
  std::vector<double> apart = apart_from(values.first(at), mean_of(values.first(at)));
  for (const double value : apart_from(values.subspan(at), mean_of(values.subspan(at)))) {
    apart.push_back(value);
  }
  const double scale =
      std::sqrt(1 / static_cast<double>(at) + 1 / static_cast<double>(values.size() - at));
  if (chance_of(cuts.rise(at), scale, noise_of(apart, 2), values.size()) > chance) {
    return std::nullopt;
  }
  return LevelChange{at, cuts.rise(at), false};
}

/// The last third is far from the first, whatever the course in between. The noise is that of
/// neighbours' differences, which a slow change hardly affects.
std::optional<LevelChange> gross_drift(std::span<const double> values) {
  const std::size_t third = values.size() / 3;
  const double rise = median_of(values.last(third)) - median_of(values.first(third));
  double squares = 0;
  for (std::size_t i = 1; i < values.size(); ++i) squares += square(values[i] - values[i - 1]);
  const double noise = std::sqrt(squares / 2 / static_cast<double>(values.size() - 1));
  if (std::abs(rise) < std::max(std::log(kGrossDrift), kGrossDriftDeviations * noise)) {
    return std::nullopt;
  }
  return LevelChange{0, rise, true};
}

std::size_t visits(std::span<const double> logs, double between) {
  std::size_t visits = 1;
  for (std::size_t i = 1; i < logs.size(); ++i) {
    if ((logs[i] > between) != (logs[i - 1] > between)) ++visits;
  }
  return visits;
}

}  // namespace

double median_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile(sorted, 0.5);
}

std::optional<LevelChange> level_change(std::span<const double> logs, std::size_t examined) {
  if (logs.size() < kFewestToCut) return std::nullopt;
  const std::vector<double> blocks = block_means(logs, kMostBlocks);
  const Cuts cuts(blocks);
  const double chance = kChance / static_cast<double>(examined);
  auto change = trend(blocks, cuts, chance);
  if (!change) change = head_change(blocks, cuts, chance);
  if (!change) change = step(blocks, cuts, chance);
  if (!change) change = gross_drift(blocks);
  if (change) change->at = change->at * logs.size() / blocks.size();
  return change;
}

std::optional<Levels> alternating_levels(std::span<const double> logs) {
  if (logs.size() < kFewestToCut) return std::nullopt;
  std::vector<double> sorted(logs.begin(), logs.end());
  std::sort(sorted.begin(), sorted.end());
  const Cuts cuts(sorted);
  const std::size_t at = cuts.best();
  const auto n = static_cast<double>(sorted.size());
  const auto smaller = static_cast<double>(std::min(at, sorted.size() - at));
  if (smaller < 3 || smaller < kSmallestShare * n) return std::nullopt;
  const double rise = cuts.rise(at);
  const double deviation = std::sqrt(cuts.left_over(at) / (n - 2));
  // With few values, the best cut leaves little variance by chance.
  const double apart = kApart * (1 + square(static_cast<double>(kEnoughToTell) / n));
  if (rise < std::log1p(kMaterial) || rise < apart * deviation) return std::nullopt;
  if (visits(logs, (sorted[at - 1] + sorted[at]) / 2) < kFewestVisits) return std::nullopt;
  const std::span<const double> all(sorted);
  return Levels{mean_of(all.first(at)), mean_of(all.subspan(at))};
}

}  // namespace profline::statistics
