#include "catalog/history.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/figures.h"
#include "base/source_commit.h"
#include "base/strings.h"
#include "comparison/row_text.h"
#include "formats/markup.h"
#include "schema/docs.h"
#include "statistics/change_points.h"

namespace profline::catalog {
namespace {

using comparison::Check;
using run_index::IndexedMetric;
using run_index::IndexedRun;
using Table = markdown::Table;

constexpr double kOnGpu = 0.01;
constexpr double kOnCpu = 0.05;
/// As `compare` says of a run: its steps lost more than this share to something else.
constexpr double kDisturbed = 0.02;

bool is_requested(const IndexedMetric& metric, const std::vector<std::string>& wanted) {
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
           return matches_wildcards(metric.name, name);
         });
}

Verdict verdict_of(double change, bool higher_is_better) {
  return (change > 0) == higher_is_better ? Verdict::Faster : Verdict::Slower;
}

std::vector<double> values_of(std::span<const HistoryPoint> points) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const HistoryPoint& point : points) values.push_back(point.value);
  return values;
}

/// A number without a unit, such as that of the late rank, is neither better nor worse than
/// another.
bool has_direction(const IndexedMetric& metric) {
  return !metric.unit.empty();
}

HistoryPoint point_of(const IndexedRun& run, const IndexedMetric& metric) {
  return {run.folder, run.started, run.commit, metric.value, metric.n};
}

/// The changes of level between the points.
void find_changes(const statistics::ChangePointRule& rule, MetricHistory& history) {
  for (const statistics::ChangePoint& step :
       statistics::change_points(values_of(history.points), rule)) {
    const HistoryPoint& first = history.points[step.at];
    history.changes.push_back({.folder = first.folder,
                               .started = first.started,
                               .commit = first.commit,
                               .commit_before = history.points[step.at - 1].commit,
                               .at = step.at,
                               .before = step.before,
                               .after = step.after,
                               .change = step.change(),
                               .p = step.p,
                               .verdict = verdict_of(step.change(), history.higher_is_better)});
  }
  if (!history.changes.empty()) history.verdict = history.changes.back().verdict;
}

/// The last point against the level of those before it.
void judge_newest(const statistics::ChangePointRule& rule, MetricHistory& history) {
  std::vector<double> values = values_of(history.points);
  const bool is_zero = !(values.back() > 0);
  // Levels are compared by ratios. Nothing of a level of positive values is as far from it as zero.
  if (is_zero && values.size() > 1) values.back() = values[values.size() - 2];
  auto last = is_zero && values.size() == 1 ? std::nullopt : statistics::last_value(values, rule);
  if (!last) return;
  if (is_zero) {
    last->change = -1;
    last->p = 0;
  }
  history.newest = NewestRun{.before = last->before,
                             .value = history.points.back().value,
                             .change = last->change,
                             .p = last->p,
                             .smallest = last->smallest,
                             .verdict = Verdict::Undecided};
  // A step that the newest run is part of says more about it than the run alone.
  if (std::abs(last->change) > rule.threshold && last->p <= rule.chance) {
    history.newest->verdict = verdict_of(last->change, history.higher_is_better);
    history.verdict = history.newest->verdict;
  }
}

MetricHistory metric_history(const IndexedMetric& metric,
                             const std::vector<const IndexedRun*>& oldest_first,
                             const statistics::ChangePointRule& rule,
                             std::vector<std::string>& notes) {
  MetricHistory history;
  history.name = metric.name;
  history.unit = metric.unit;
  history.higher_is_better = metric.unit.ends_with("/s");
  std::size_t zeros = 0;
  for (const IndexedRun* run : oldest_first) {
    const IndexedMetric* found = run->find_metric(metric.name);
    if (found == nullptr) continue;
    const bool is_positive = found->value > 0;
    if (!is_positive) ++zeros;
    if (is_positive) history.points.push_back(point_of(*run, *found));
  }
  find_changes(rule, history);
  const bool ends_at_zero = !(metric.value > 0);
  if (ends_at_zero) history.points.push_back(point_of(*oldest_first.back(), metric));
  const std::size_t left_out = zeros - (ends_at_zero ? 1 : 0);
  if (left_out > 0) {
    notes.push_back(fmt::format("{}: {}", metric.name,
                                counted(left_out, "earlier run has 0 and is not compared",
                                        "earlier runs have 0 and are not compared")));
  }
  // That it is zero again is no news.
  if (!ends_at_zero || left_out == 0) judge_newest(rule, history);
  return history;
}

/// Why a comparable run is not in the series; empty: it is.
std::string why_left_out(const IndexedRun& run) {
  if (run.state != "ok") return "it is " + run.state;
  if (run.metrics.empty()) return "it measured nothing without a profiler";
  if (run.disturbance > kDisturbed) {
    return fmt::format("other load took {} of the time of its steps", percent(run.disturbance));
  }
  return "";
}

}  // namespace

std::string commit_words(const HistoryChange& change) {
  if (change.commit.empty() || change.commit == change.commit_before) return "";
  return fmt::format(
      ", commit {}{}", short_commit(change.commit),
      change.commit_before.empty() ? "" : " after " + short_commit(change.commit_before));
}

bool are_related(const IndexedRun& a, const IndexedRun& b) {
  return a.experiment == b.experiment && a.model == b.model && a.program == b.program &&
         a.device_name == b.device_name &&
         a.device.substr(0, a.device.find(':')) == b.device.substr(0, b.device.find(':'));
}

bool are_comparable(const IndexedRun& a, const IndexedRun& b) {
  return are_related(a, b) && a.configuration == b.configuration;
}

Result<History> history_of(const std::string& root, const IndexedRun& newest,
                           std::span<const IndexedRun> runs, const HistoryRequest& request) {
  if (newest.metrics.empty()) {
    const std::string state = newest.state == "ok" ? "" : "; it is " + newest.state;
    return Error(ErrorKind::NotFound,
                 newest.folder + " measured nothing without a profiler" + state);
  }
  History history{
      .root = root,
      .run = newest.folder,
      .experiment = newest.experiment,
      .workload = newest.model.empty() ? newest.program : newest.model,
      .device_name = newest.device_name,
      .asked = request.most,
      .threshold = request.threshold.value_or(newest.device.starts_with("cuda") ? kOnGpu : kOnCpu),
      .chance = statistics::ChangePointRule().chance,
      .metrics = {},
      .left_out = {},
      .notes = {},
      .regressions = {}};
  std::vector<const IndexedRun*> series;  // newest first
  std::size_t configured_otherwise = 0;
  for (const IndexedRun& run : runs) {
    const bool is_before = run.started < newest.started;
    if (run.folder != newest.folder && (!is_before || !are_related(run, newest))) continue;
    if (series.size() > request.most) break;
    if (!are_comparable(run, newest)) {
      ++configured_otherwise;
      continue;
    }
    std::string why = run.folder == newest.folder ? "" : why_left_out(run);
    if (!why.empty()) {
      history.left_out.push_back({run.folder, std::move(why)});
      continue;
    }
    series.push_back(&run);
  }
  std::reverse(series.begin(), series.end());
  const std::string doubt = why_left_out(newest);
  if (!doubt.empty()) history.notes.push_back("the newest run: " + doubt);
  if (configured_otherwise > 0) {
    history.notes.push_back(
        counted(configured_otherwise, "earlier run is left out because its configuration differs",
                "earlier runs are left out because their configurations differ"));
  }
  if (series.size() <= statistics::kShortestLevel) {
    history.notes.push_back(
        fmt::format("{} before the newest one: at least {} are needed to tell a change from noise",
                    counted(series.size() - 1, "comparable run"), statistics::kShortestLevel));
  }
  const statistics::ChangePointRule rule{.threshold = history.threshold, .chance = history.chance};
  for (const IndexedMetric& metric : newest.metrics) {
    if (!has_direction(metric) || !is_requested(metric, request.metrics)) continue;
    history.metrics.push_back(metric_history(metric, series, rule, history.notes));
    if (history.metrics.back().verdict == Verdict::Slower) {
      history.regressions.push_back(metric.name);
    }
  }
  if (history.metrics.empty()) {
    std::vector<std::string> names;
    for (const IndexedMetric& metric : newest.metrics) {
      if (has_direction(metric)) names.push_back(metric.name);
    }
    return Error(ErrorKind::NotFound, "no metric of " + newest.folder + " is called " +
                                          join(request.metrics, " or ") + "; it has " +
                                          join(names, ", "));
  }
  return history;
}

std::string value_text(double value, std::string_view unit) {
  comparison::Amount amount;
  amount.value = value;
  return comparison::value_text(amount, unit);
}

std::string sparkline(std::span<const HistoryPoint> points) {
  constexpr std::array<std::string_view, 8> kMarks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (points.empty()) return "";
  const auto [least, most] = std::minmax_element(
      points.begin(), points.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  std::string text;
  for (const HistoryPoint& point : points) {
    const double range = most->value - least->value;
    const double share = range > 0 ? (point.value - least->value) / range : 0;
    const auto mark = static_cast<std::size_t>(share * static_cast<double>(kMarks.size()));
    text += kMarks[std::min(mark, kMarks.size() - 1)];
  }
  return text;
}

std::string change_words(const MetricHistory& metric) {
  const auto& newest = metric.newest;
  if (newest && newest->verdict != Verdict::Undecided) {
    return fmt::format("{}: the newest run has {}, {} from {}", schema::name_of(newest->verdict),
                       value_text(newest->value, metric.unit), signed_percent(newest->change),
                       value_text(newest->before, metric.unit));
  }
  if (!metric.changes.empty()) {
    const HistoryChange& change = metric.changes.back();
    return fmt::format("{} since {} ({}{}): {}, {} from {}", schema::name_of(change.verdict),
                       change.folder, change.started, commit_words(change),
                       value_text(change.after, metric.unit), signed_percent(change.change),
                       value_text(change.before, metric.unit));
  }
  if (!newest) return "UNDECIDED: too few runs";
  return fmt::format(
      "no change of level in {}; the newest run is {} from {}, and one run alone "
      "would show {}",
      counted(metric.points.size(), "run"), signed_percent(newest->change),
      value_text(newest->before, metric.unit), percent(newest->smallest));
}

std::string markdown_page(const History& history) {
  using Align = Table::Align;
  std::string text = "### Performance history: " + markdown::plain(history.run) + "\n\n";
  if (history.regressions.empty()) {
    text += "No regression";
  } else {
    text += "**Slower: " + markdown::plain(join(history.regressions, ", ")) + "**";
  }
  text += fmt::format(" in up to {} of '{}' on {}.\n\n", counted(history.asked + 1, "run"),
                      markdown::plain(history.experiment), markdown::plain(history.device_name));
  Table table({{"metric", Align::Left},
               {"level"},
               {"newest"},
               {"runs"},
               {"", Align::Left},
               {"finding", Align::Left}});
  for (const MetricHistory& metric : history.metrics) {
    const bool is_slower = metric.verdict == Verdict::Slower;
    const std::string words = markdown::plain(change_words(metric));
    table.add({markdown::code(metric.name),
               metric.newest ? value_text(metric.newest->before, metric.unit) : "–",
               metric.points.empty() ? "–" : value_text(metric.points.back().value, metric.unit),
               std::to_string(metric.points.size()), sparkline(metric.points),
               is_slower ? "**" + words + "**" : words});
  }
  text += table.text();
  for (const std::string& note : history.notes) text += "\n- " + markdown::plain(note);
  if (!history.notes.empty()) text += "\n";
  text += fmt::format(
      "\nChanges up to {} do not matter. Chance alone looks like a change in one of "
      "{:.0f} series.\n",
      chosen_percent(history.threshold), 1 / history.chance);
  return text;
}

std::vector<Check> checks_of(const History& history) {
  std::vector<Check> checks;
  for (const MetricHistory& metric : history.metrics) {
    Check check;
    check.group = "history";
    check.name = metric.name;
    check.text = change_words(metric);
    if (metric.verdict == Verdict::Slower) check.outcome = Check::Outcome::Failed;
    // Without a change of level, nothing is wrong; with too few runs nothing is known.
    if (!metric.newest) check.outcome = Check::Outcome::Undecided;
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace profline::catalog
