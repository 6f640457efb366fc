#include "statistics/ratio.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "statistics/internal/mean.h"
#include "statistics/significance.h"
#include "statistics/summary.h"

namespace profline::statistics {
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
