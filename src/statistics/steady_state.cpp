#include "statistics/steady_state.h"

#include <algorithm>
#include <cmath>

#include "statistics/internal/level_change.h"

namespace profline::statistics {
namespace {

using Indices = std::vector<std::size_t>;
/// Measurements that are left out, by index.
using Without = std::vector<bool>;

/// A measurement is a gross outlier from this multiple of its expected value on, among few
/// measurements and among enough of them.
constexpr double kGrossOfFew = 3;
constexpr double kGross = 2;
/// It must also be this many standard deviations above its expected value.
constexpr double kGrossDeviations = 8;
/// The same two limits for the first of enough measurements.
constexpr double kGrossFirst = 3;
constexpr double kGrossFirstDeviations = 3;
/// Times do not grow faster than this power of the work.
constexpr double kSteepest = 2;
/// Isolated events are at most this share of a series.
constexpr double kRare = 0.01;
/// The distances between periodic events differ by at most this factor.
constexpr double kRegular = 1.5;
/// First uses of shapes are slow for that reason if this many times as large a share of them is
/// slow as of the other measurements.
constexpr double kMoreOften = 3;
/// From this many on, one more or less does not move a median.
constexpr std::size_t kMany = 64;
/// The dependence on work is estimated from about this many pairs.
constexpr std::size_t kPairs = 20'000;
/// A steady part shorter than this is too short to tell.
constexpr std::size_t kFewestSteady = 5;
/// The median absolute deviation of Gaussian noise, as a share of its standard deviation.
constexpr double kMedianDeviation = 0.6745;

/// What each measurement is expected to be, given the others; everything in logarithms.
class Expected {
 public:
  Expected(std::span<const double> logs, const SeriesFacts& facts) : logs_(logs) {
    work_.resize(logs.size());
    for (std::size_t i = 0; i < facts.work.size(); ++i) work_[i] = std::log(facts.work[i]);
    if (!facts.work.empty() && logs.size() >= kEnoughToTell) slope_ = slope_of_work();
    for (std::size_t i = 0; i < facts.shapes.size(); ++i) {
      if (facts.shapes[i] >= shapes_.size()) shapes_.resize(facts.shapes[i] + 1);
      shapes_[facts.shapes[i]].push_back(i);
    }
  }

  /// From the measurements of the same shape or, for the only one of its shape, from all of them
  /// and their work. `by_others`: leaves each measurement out of its own expected value.
  std::vector<double> values(const Without& without, bool by_others) const {
    const auto by_work = [this](std::size_t i) { return logs_[i] - slope_ * work_[i]; };
    std::vector<double> expected;
    Indices all;
    for (std::size_t i = 0; i < logs_.size(); ++i) {
      all.push_back(i);
      expected.push_back(by_work(i));
    }
    set_medians(all, by_work, without, by_others, expected);
    for (std::size_t i = 0; i < all.size(); ++i) {
      expected[i] += slope_ * work_[i] + allowance(i, without);
    }
    for (const Indices& peers : shapes_) {
      set_medians(
          peers, [this](std::size_t i) { return logs_[i]; }, without, by_others, expected);
    }
    return expected;
  }

  /// Whether each measurement is the first of its shape, but not of the series. The only one of its
  /// shape counts if most measurements belong to shapes that repeat; where shapes hardly repeat, it
  /// says nothing.
  std::vector<bool> first_of_shape() const {
    std::size_t repeated = 0;
    for (const Indices& peers : shapes_) repeated += peers.size() > 1 ? peers.size() : 0;
    const std::size_t fewest = repeated * 2 > logs_.size() ? 1 : 2;
    std::vector<bool> is_first(logs_.size());
    for (const Indices& peers : shapes_) {
      if (peers.size() >= fewest && peers.front() > 0) is_first[peers.front()] = true;
    }
    return is_first;
  }

 private:
  /// Sets each member's value to the median of the other members, where there are any.
  template <typename Value>
  static void set_medians(const Indices& members, const Value& value, const Without& without,
                          bool by_others, std::vector<double>& to) {
    std::vector<double> kept;
    for (const std::size_t i : members) {
      if (!without[i]) kept.push_back(value(i));
    }
    if (kept.size() > kMany || (!by_others && kept.size() > 1)) {
      const double median = median_of(kept);
      for (const std::size_t i : members) to[i] = median;
      return;
    }
    if (!by_others) return;
    for (const std::size_t i : members) {
      std::vector<double> others;
      for (const std::size_t j : members) {
        if (j != i && !without[j]) others.push_back(value(j));
      }
      if (!others.empty()) to[i] = median_of(others);
    }
  }

  /// The median slope between pairs (Theil 1950, Sen 1968), which a few slow measurements hardly
  /// change.
  double slope_of_work() const {
    std::vector<double> slopes;
    const std::size_t n = logs_.size();
    const std::size_t stride = std::max<std::size_t>(n * n / 2 / kPairs, 1);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1 + i % stride; j < n; j += stride) {
        const double run = work_[j] - work_[i];
        if (run != 0) slopes.push_back((logs_[j] - logs_[i]) / run);
      }
    }
    return slopes.empty() ? 0 : std::clamp(median_of(slopes), 0.0, kSteepest);
  }

  /// Few measurements do not show how time depends on work: it may be proportional.
  double allowance(std::size_t index, const Without& without) const {
    if (logs_.size() >= kEnoughToTell) return 0;
    std::vector<double> others;
    for (std::size_t i = 0; i < work_.size(); ++i) {
      if (i != index && !without[i]) others.push_back(work_[i]);
    }
    return others.empty() ? 0 : std::max(work_[index] - median_of(others), 0.0);
  }

  std::span<const double> logs_;
  std::vector<double> work_;
  double slope_ = 0;
  std::vector<Indices> shapes_;
};

class Analysis {
 public:
  Analysis(std::span<const double> values, const SeriesFacts& facts)
      : facts_(facts), logs_(logs_of(values)), expected_(logs_, facts), without_(values.size()) {}

  SteadyState run() {
    find_gross();
    find_level();
    const std::size_t left = state_.steady(logs_.size()).size();
    if (state_.verdict == Steadiness::Steady && left < kFewestSteady) {
      state_.verdict = Steadiness::TooShort;
    }
    return std::move(state_);
  }

 private:
  /// A time of 0 has no logarithm, so it is replaced by a tiny share of the longest time.
  static std::vector<double> logs_of(std::span<const double> values) {
    const double longest = *std::max_element(values.begin(), values.end());
    const double least = longest > 0 ? longest * 1e-9 : 1;
    std::vector<double> logs;
    logs.reserve(values.size());
    for (const double value : values) logs.push_back(std::log(std::max(value, least)));
    return logs;
  }

  bool is_short() const { return logs_.size() < kEnoughToTell; }

  /// How far above its expected value a gross outlier is. The limit is lower for the first
  /// measurement, because most programs start slowly.
  struct GrossFrom {
    double first = 0;
    double others = 0;
  };
  GrossFrom gross_from(const std::vector<double>& expected) const {
    if (is_short()) return {std::log(kGrossOfFew), std::log(kGrossOfFew)};
    std::vector<double> apart;
    for (std::size_t i = 0; i < logs_.size(); ++i) {
      if (!without_[i]) apart.push_back(std::abs(logs_[i] - expected[i]));
    }
    // In short series the estimate of the deviation has tails of about the fourth power.
    const double stricter = std::sqrt(std::sqrt(static_cast<double>(facts_.examined)));
    const double deviation = stricter * median_of(apart) / kMedianDeviation;
    const double others = std::max(std::log(kGross), kGrossDeviations * deviation);
    const double first = std::max(std::log(kGrossFirst), kGrossFirstDeviations * deviation);
    return {std::min(first, others), others};
  }

  /// Among few measurements, slow ones hide each other, so those found are left out of the next
  /// search.
  void find_gross() {
    take_marked();
    Indices found;
    for (bool is_new = true; is_new;) {
      is_new = false;
      const std::vector<double> expected = expected_.values(without_, true);
      const GrossFrom from = gross_from(expected);
      for (std::size_t i = 0; i < logs_.size(); ++i) {
        if (without_[i] || logs_[i] - expected[i] < (i == 0 ? from.first : from.others)) continue;
        found.push_back(i);
        is_new = true;
      }
      // Half of the series must be left to compare with.
      if ((found.size() + state_.one_time.size()) * 2 > logs_.size()) {
        found.clear();
        reset();
        break;
      }
      for (const std::size_t i : found) without_[i] = true;
    }
    std::sort(found.begin(), found.end());
    classify(found);
    set_typical();
  }

  /// If most of the series is marked, the marks are not one-time events.
  void take_marked() {
    if (facts_.marked.size() * 2 > logs_.size()) return;
    for (const std::size_t i : facts_.marked) {
      without_[i] = true;
      state_.one_time.push_back({i, OneTime::Marked, 0});
    }
  }

  void reset() {
    std::fill(without_.begin(), without_.end(), false);
    state_.one_time.clear();
  }

  /// The measurements whose place explains why they are slow: they are the first of their shape,
  /// and those are slow more often than others. `from`: after the slow ones at the start.
  std::vector<bool> first_uses(const Indices& found, std::size_t from) const {
    std::vector<bool> is_first = expected_.first_of_shape();
    const auto firsts = static_cast<double>(std::count(is_first.begin(), is_first.end(), true));
    Indices slow;
    double slow_firsts = 0;
    for (const std::size_t i : found) {
      if (is_first[i]) slow_firsts += 1;
      if (is_first[i] || i >= from) slow.push_back(i);
    }
    const double slow_others = static_cast<double>(slow.size()) - slow_firsts;
    const double others = static_cast<double>(logs_.size()) - firsts;
    const bool is_explained =
        slow_others == 0 ||
        (!period_of(slow) && slow_firsts * others >= kMoreOften * slow_others * firsts);
    if (!is_explained) std::fill(is_first.begin(), is_first.end(), false);
    return is_first;
  }

  void classify(const Indices& found) {
    Indices events;
    std::size_t next = 0;  // after the slow ones at the start
    while (next < logs_.size() && without_[next]) ++next;
    const std::vector<bool> is_first = first_uses(found, next);
    for (const std::size_t i : found) {
      // Of two measurements, nothing says which one is typical.
      if (logs_.size() == 2 && i == 1) continue;
      if (is_first[i]) {
        state_.one_time.push_back({i, OneTime::FirstUse, 0});
      } else if (i < next) {
        state_.one_time.push_back({i, OneTime::WarmUp, 0});
      } else {
        events.push_back(i);
      }
    }
    if (are_isolated(events)) {
      for (const std::size_t i : events) state_.one_time.push_back({i, OneTime::Event, 0});
    } else {
      state_.period = period_of(events);
      state_.recurring = std::move(events);
    }
  }

  bool are_isolated(const Indices& events) const {
    const double most = std::max(kRare * static_cast<double>(logs_.size()), 1.0);
    return static_cast<double>(events.size()) <= most && !period_of(events);
  }

  static std::optional<std::size_t> period_of(const Indices& events) {
    if (events.size() < 3) return std::nullopt;
    Indices gaps;
    for (std::size_t i = 1; i < events.size(); ++i) gaps.push_back(events[i] - events[i - 1]);
    std::sort(gaps.begin(), gaps.end());
    if (static_cast<double>(gaps.back()) > kRegular * static_cast<double>(gaps.front())) {
      return std::nullopt;
    }
    return gaps[gaps.size() / 2];
  }

  void set_typical() {
    std::sort(state_.one_time.begin(), state_.one_time.end(),
              [](const OneTimeCost& a, const OneTimeCost& b) { return a.index < b.index; });
    if (state_.one_time.empty()) return;
    const std::vector<double> expected = expected_.values(without_, true);
    for (OneTimeCost& cost : state_.one_time) cost.typical = std::exp(expected[cost.index]);
  }

  void find_level();
  void drop_head(const Indices& places, const std::vector<double>& apart, std::size_t from);

  const SeriesFacts& facts_;
  std::vector<double> logs_;
  Expected expected_;
  Without without_;
  SteadyState state_;
};

/// Finds changes of level in what is left without the gross outliers, and where it settled.
void Analysis::find_level() {
  const std::vector<double> expected = expected_.values(without_, false);
  Indices places;
  std::vector<double> apart;
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    if (without_[i]) continue;
    places.push_back(i);
    apart.push_back(logs_[i] - expected[i]);
  }
  if (is_short() || apart.size() < kFewestSteady) return;
  state_.verdict = Steadiness::Steady;
  // Values of different shapes or work have levels of their own.
  if (!facts_.grows) state_.levels = alternating_levels(apart);
  if (state_.levels) {
    const double middle = median_of(expected);
    state_.levels =
        Levels{std::exp(middle + state_.levels->low), std::exp(middle + state_.levels->high)};
    return;
  }
  std::size_t from = 0;
  while (const auto change = level_change(std::span(apart).subspan(from), facts_.examined)) {
    if (facts_.grows && (change->rise > 0 || change->is_trend)) break;
    from += change->at;
    if (!change->is_trend && (apart.size() - from) * 2 >= apart.size()) continue;
    state_.verdict = Steadiness::Drifting;
    return;
  }
  if (from > 0) drop_head(places, apart, from);
}

/// The head is a cost only if it is slower.
void Analysis::drop_head(const Indices& places, const std::vector<double>& apart,
                         std::size_t from) {
  state_.first = places[from];
  const double settled = median_of(std::span(apart).subspan(from));
  if (median_of(std::span(apart).first(from)) < settled) return;
  const std::vector<double> expected = expected_.values(without_, false);
  for (std::size_t i = 0; i < from; ++i) {
    if (apart[i] - settled < std::log1p(kMaterial)) continue;
    state_.one_time.push_back(
        {places[i], OneTime::WarmUp, std::exp(expected[places[i]] + settled)});
  }
  std::sort(state_.one_time.begin(), state_.one_time.end(),
            [](const OneTimeCost& a, const OneTimeCost& b) { return a.index < b.index; });
}

}  // namespace

std::string_view to_text(Steadiness verdict) {
  switch (verdict) {
    case Steadiness::Steady:
      return "steady";
    case Steadiness::Drifting:
      return "drifting";
    case Steadiness::TooShort:
      break;
  }
  return "too-short";
}

std::vector<std::size_t> SteadyState::steady(std::size_t size) const {
  std::vector<std::size_t> indices;
  auto cost = one_time.begin();
  for (std::size_t i = 0; i < size; ++i) {
    while (cost != one_time.end() && cost->index < i) ++cost;
    const bool is_cost = cost != one_time.end() && cost->index == i;
    if (i >= first && !is_cost) indices.push_back(i);
  }
  return indices;
}

SteadyState steady_state(std::span<const double> values, const SeriesFacts& facts) {
  return values.empty() ? SteadyState() : Analysis(values, facts).run();
}

}  // namespace profline::statistics
