#include "comparison/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "analysis/requests/series.h"
#include "base/figures.h"
#include "base/strings.h"
#include "comparison/internal/differences.h"
#include "comparison/run_measurements.h"
#include "statistics/significance.h"
#include "statistics/summary.h"

namespace profline::comparison {
namespace {

using statistics::Better;
using statistics::Effect;
using statistics::Limit;

constexpr std::array<std::pair<std::string_view, Family>, 7> kFamilies = {
    std::pair{std::string_view("metrics"), Family::Metric},
    {"phases", Family::Phase},
    {"stages", Family::Phase},  // their name in version 0.1
    {"steps", Family::Step},
    {"ranks", Family::Rank},
    {"operators", Family::Operator},
    {"kernels", Family::Kernel}};

bool is_requested(const Series& series, std::span<const std::string> only) {
  if (only.empty()) return true;
  return std::any_of(only.begin(), only.end(), [&](const std::string& pattern) {
    for (const auto& [name, family] : kFamilies) {
      if (pattern == name) return series.family == family;
    }
    return matches_wildcards(series.name, pattern) || matches_wildcards(series.short_name, pattern);
  });
}

Result<void> check_patterns(const std::vector<SeriesGroup>& groups,
                            const std::vector<std::string>& only) {
  std::set<std::string> names;
  for (const SeriesGroup& group : groups) {
    names.insert(group.any().short_name);
    for (const auto& [name, family] : kFamilies) {
      if (group.any().family == family) names.insert(std::string(name));
    }
  }
  const std::vector<std::string> known(names.begin(), names.end());
  for (const std::string& pattern : only) {
    const bool is_known = std::any_of(groups.begin(), groups.end(), [&](const SeriesGroup& group) {
      return is_requested(group.any(), std::span(&pattern, 1));
    });
    if (is_known) continue;
    return Error(ErrorKind::NotFound,
                 "--metric: neither side has '" + pattern + "'" + did_you_mean(pattern, known));
  }
  return {};
}

void set_value(Amount& amount, std::vector<double> units) {
  std::sort(units.begin(), units.end());
  amount.value = statistics::quantile(units, 0.5);
  amount.n = units.size();
}

/// Of the inputs that are compared with each other.
void set_value(Amount& amount, const statistics::RunUnits& runs) {
  std::vector<double> all;
  for (const std::vector<double>& units : runs) all.insert(all.end(), units.begin(), units.end());
  set_value(amount, std::move(all));
}

std::optional<Amount> amount_of(const std::vector<const Series*>& runs) {
  if (runs.empty()) return std::nullopt;
  Amount amount;
  std::vector<double> all;
  double total = 0;
  std::uint64_t calls = 0;
  for (const Series* series : runs) {
    all.insert(all.end(), series->units.begin(), series->units.end());
    total += series->total.value_or(0);
    calls += series->calls.value_or(0);
  }
  set_value(amount, std::move(all));
  amount.runs = runs.size();
  if (runs.front()->calls) amount.calls = calls / runs.size();
  if (runs.front()->total) amount.total = total / static_cast<double>(runs.size());
  return amount;
}

std::string unit_text(const Row& row) {
  if (row.family == Family::Step) return "windows";
  return is_captured(row.family) ? "blocks of calls" : "requests";
}

/// Common to all rows of a comparison.
struct Setting {
  std::span<const RunMeasurements> a;
  std::span<const RunMeasurements> b;
  bool may_pair = true;
  std::optional<double> clock_factor;
  std::string disturbed;  ///< why no row has a verdict; empty: rows may have one
};

/// Makes rows; verdicts need all rows that are tested together.
class RowMaker {
 public:
  RowMaker(const Rules& rules, Setting setting) : rules_(rules), setting_(std::move(setting)) {}

  void add(const SeriesGroup& group) {
    Row row = blank(group);
    Judged judged;
    judged.row = rows_.size();
    if (row.a && row.b) {
      fill(row, group, judged);
      judged_.push_back(judged);
    }
    rows_.push_back(std::move(row));
  }

  /// What is known of the spread between runs, from the first row that needs it.
  const std::string& run_spread() const { return run_spread_; }

  std::vector<Row> finish() && {
    // Unprofiled measurements are tested together; those of a profiler separately.
    judge({Family::Metric, Family::Phase});
    judge({Family::Step});
    judge({Family::Rank});
    judge({Family::Operator});
    judge({Family::Kernel});
    return std::move(rows_);
  }

 private:
  struct Judged {
    std::size_t row = 0;
    Effect effect;
    statistics::ComparisonRule rule;
  };

  static Row blank(const SeriesGroup& group) {
    const Series& any = group.any();
    Row row;
    row.family = any.family;
    row.name = any.name;
    row.short_name = any.short_name;
    row.shape = any.shape;
    row.unit = any.unit;
    row.higher_is_better = any.better == Better::Higher;
    row.a = amount_of(group.a);
    row.b = amount_of(group.b);
    return row;
  }
  void fill(Row& row, const SeriesGroup& group, Judged& judged);
  std::string withheld(const Effect& effect, const KnownSpread& known) const;
  void judge(const std::set<Family>& families);

  const Rules& rules_;
  Setting setting_;
  std::string run_spread_;
  std::vector<Row> rows_;
  std::vector<Judged> judged_;
};

std::string limit_text(const Row& row, Limit limit, const KnownSpread& known) {
  switch (limit) {
    case Limit::Units:
      return unit_text(row);
    case Limit::SeenSpread:
      return "spread of the runs compared";
    case Limit::KnownSpread:
      return "run-to-run spread: " + known.source;
  }
  return "";
}

std::string RowMaker::withheld(const Effect& effect, const KnownSpread& known) const {
  if (!setting_.disturbed.empty() || effect.spread_is_seen) return setting_.disturbed;
  return spread_reason(setting_.a, setting_.b, known.basis);
}

/// The larger of how far up and how far down the change may be.
std::optional<double> largest_change(const statistics::Interval& bounds) {
  const double most = std::max(bounds.high, 1 / bounds.low) - 1;
  return std::isfinite(most) ? std::optional(most) : std::nullopt;
}

void RowMaker::fill(Row& row, const SeriesGroup& group, Judged& judged) {
  const PairedUnits units = pair_units(group, setting_.may_pair);
  const KnownSpread known = rules_.known_spread(group.any());
  judged.rule = {.threshold = rules_.threshold,
                 .paired = units.paired,
                 .known_spread = known.spread,
                 .bootstrap = {}};
  judged.effect = statistics::effect_of(units.a, units.b, judged.rule);
  const statistics::Ratio& ratio = judged.effect.ratio;
  if (run_spread_.empty()) {
    run_spread_ = judged.effect.spread_is_seen ? "that of the runs compared" : known.source;
  }
  row.paired = units.paired;
  if (units.paired) {
    set_value(*row.a, units.a);
    set_value(*row.b, units.b);
  }
  row.change = ratio.value - 1;
  row.low = ratio.interval.low - 1;
  if (std::isfinite(ratio.interval.high)) row.high = ratio.interval.high - 1;
  row.p = judged.effect.p;
  row.limit = limit_text(row, judged.effect.limit, known);
  row.withheld = withheld(judged.effect, known);
  if (row.withheld.empty()) {
    row.at_most = largest_change(ratio.one_sided);
    row.smallest_effect = judged.effect.smallest;
  }
  if (setting_.clock_factor && !is_captured(row.family)) {
    const double clocks = *setting_.clock_factor;
    const double factor = row.higher_is_better ? 1 / clocks : clocks;
    row.change_at_equal_clocks = ratio.value * factor - 1;
  }
}

void RowMaker::judge(const std::set<Family>& families) {
  std::vector<const Judged*> asked;
  std::vector<double> p;
  for (const Judged& judged : judged_) {
    Row& row = rows_[judged.row];
    if (!families.contains(row.family)) continue;
    if (!row.withheld.empty()) {
      row.verdict = Verdict::Undecided;
      continue;
    }
    asked.push_back(&judged);
    p.push_back(judged.effect.p);
  }
  const std::vector<double> adjusted = statistics::benjamini_hochberg(p);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Row& row = rows_[asked[i]->row];
    row.adjusted_p = adjusted[i];
    row.verdict = statistics::verdict_of(asked[i]->effect, adjusted[i], asked[i]->rule,
                                         row.higher_is_better ? Better::Higher : Better::Lower);
  }
}

std::optional<double> clock_factor(std::span<const RunMeasurements> a,
                                   std::span<const RunMeasurements> b) {
  const auto clock_a = mean_clock(a);
  const auto clock_b = mean_clock(b);
  return clock_a && clock_b ? std::optional(*clock_b / *clock_a) : std::nullopt;
}

/// Describes a side's runs and removes those that are left out.
std::vector<ComparedRun> settle(std::vector<RunMeasurements>& side) {
  leave_out_openers(side);
  std::vector<ComparedRun> runs;
  for (const RunMeasurements& run : side) runs.push_back(run.run);
  std::erase_if(side, [](const RunMeasurements& run) { return run.run.left_out; });
  return runs;
}

std::vector<std::string> notes_on_left_out(const Comparison& found) {
  std::vector<std::string> notes;
  for (const auto* side : {&found.a, &found.b}) {
    for (const ComparedRun& run : *side) {
      if (!run.left_out) continue;
      notes.push_back(run.folder + " is left out: it is the first run after a pause");
    }
  }
  return notes;
}

/// Rows that are SLOWER and count; see compare().
std::vector<std::string> regressions_of(const std::vector<Row>& rows, bool asked_by_name) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    const bool counts = !is_captured(row.family) || asked_by_name;
    if (counts && row.verdict == std::optional(Verdict::Slower)) names.push_back(row.short_name);
  }
  return names;
}

}  // namespace

KnownSpread stated_spread(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b) {
  constexpr double kGpu = 0.02;
  constexpr double kCpu = 0.20;  // an idle machine whose host others share: docs/comparing.md
  constexpr double kMostDisturbed = 0.99;
  const bool is_gpu = a.front().run.device.starts_with("cuda");
  const double usual = is_gpu ? kGpu : kCpu;
  double disturbed = 0;
  for (const auto side : {a, b}) {
    for (const RunMeasurements& run : side) disturbed = std::max(disturbed, run.disturbance);
  }
  const double reach = std::sqrt(2.0) * statistics::normal_quantile(0.975);
  // A run that lost the share d would have been shorter by the factor 1 - d, and so may the next.
  const double by_chance = std::expm1(-reach * std::log1p(-std::min(disturbed, kMostDisturbed)));
  const double limit = std::max(usual, by_chance);
  return {{.deviation = std::log1p(limit) / reach},
          fmt::format("not known; {} between two runs is assumed{}",
                      by_chance > usual ? percent(limit) : chosen_percent(limit),
                      by_chance > usual   ? ", because something else took much of a run's time"
                      : is_gpu            ? ", as is usual on a GPU"
                      : a.front().is_load ? ""
                                          : ", as is usual on a CPU"),
          KnownSpread::Basis::Assumed};
}

double usual_threshold(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b) {
  constexpr double kGpu = 0.01;
  constexpr double kCpu = 0.05;
  const auto is_gpu = [](const RunMeasurements& run) { return run.run.device.starts_with("cuda"); };
  return is_gpu(a.front()) && is_gpu(b.front()) ? kGpu : kCpu;
}

bool wants_captures(std::span<const std::string> only) {
  const auto is_unprofiled = [](const std::string& pattern) {
    return pattern == "metrics" || pattern == "phases" || pattern == "stages" ||
           requests::is_figure(pattern);  // wall_ms among them
  };
  return only.empty() || !std::all_of(only.begin(), only.end(), is_unprofiled);
}

Result<Comparison> compare(std::vector<RunMeasurements> a, std::vector<RunMeasurements> b,
                           const Rules& rules) {
  Comparison found;
  found.a = settle(a);
  found.b = settle(b);
  const std::vector<SeriesGroup> groups = group_series(a, b);
  PL_TRY(check_patterns(groups, rules.only));
  found.threshold = rules.threshold;
  found.confidence = statistics::Bootstrap{}.confidence;
  found.differences = differences_between(a.front(), b.front());
  found.notes = notes_of(a, b, found.differences);
  for (std::string& note : notes_on_left_out(found)) found.notes.push_back(std::move(note));
  RowMaker maker(rules, {a, b, found.differences.same_inputs.value_or(true), clock_factor(a, b),
                         disturbed_reason(a, b)});
  for (const SeriesGroup& group : groups) {
    if (!is_requested(group.any(), rules.only)) continue;
    maker.add(group);
  }
  found.run_spread = maker.run_spread();
  found.rows = std::move(maker).finish();
  found.regressions = regressions_of(found.rows, !rules.only.empty());
  if (found.rows.empty()) found.notes.emplace_back("neither side measured anything");
  return found;
}

}  // namespace profline::comparison
