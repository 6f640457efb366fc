#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "comparison/ci_checks.h"
#include "comparison/comparison.h"
#include "records/document.h"
#include "run_index/indexed_run.h"
#include "schema/field.h"

/// Metrics of runs of the same experiment over time: where their level changed, and whether the
/// newest run differs.
namespace profline::catalog {

using comparison::Verdict;

/// A metric of one run.
struct HistoryPoint {
  std::string folder;
  std::string started;
  std::string commit;
  double value = 0;
  std::int64_t n = 0;

  bool operator==(const HistoryPoint&) const = default;
};
constexpr auto fields(std::type_identity<HistoryPoint>) {
  return field_list(field("folder", &HistoryPoint::folder, "of the run, below the root").required(),
                    field("started", &HistoryPoint::started, "UTC"),
                    field("commit", &HistoryPoint::commit, "of the source: docs/formats/runs.md"),
                    field("value", &HistoryPoint::value, "median of the run").required(),
                    field("n", &HistoryPoint::n, "of so many requests").required());
}

/// The first run of a new level.
struct HistoryChange {
  std::string folder;
  std::string started;
  std::string commit;
  std::string commit_before;
  std::size_t at = 0;
  double before = 0;
  double after = 0;
  double change = 0;
  double p = 1;
  Verdict verdict = Verdict::Undecided;

  bool operator==(const HistoryChange&) const = default;
};
constexpr auto fields(std::type_identity<HistoryChange>) {
  return field_list(
      field("folder", &HistoryChange::folder, "of the first run of the new level").required(),
      field("started", &HistoryChange::started, "of that run, UTC"),
      field("commit", &HistoryChange::commit, "of that run"),
      field("commit_before", &HistoryChange::commit_before, "of the last run of the old level"),
      field("at", &HistoryChange::at, "index in points").required(),
      field("before", &HistoryChange::before, "median of the old level").required(),
      field("after", &HistoryChange::after, "median of the new level").required(),
      field("change", &HistoryChange::change, "after / before - 1").required(),
      field("p", &HistoryChange::p, "how often chance alone gives such a step").required(),
      field("verdict", &HistoryChange::verdict, "FASTER or SLOWER").required());
}

/// The newest run against the level of those before it.
struct NewestRun {
  double before = 0;
  double value = 0;
  double change = 0;
  double p = 1;
  double smallest = 0;
  Verdict verdict = Verdict::Undecided;

  bool operator==(const NewestRun&) const = default;
};
constexpr auto fields(std::type_identity<NewestRun>) {
  return field_list(
      field("before", &NewestRun::before, "median of the level before it").required(),
      field("value", &NewestRun::value, "of the newest run").required(),
      field("change", &NewestRun::change, "value / before - 1").required(),
      field("p", &NewestRun::p, "how often a run of that level is as far from it").required(),
      field("smallest", &NewestRun::smallest, "smallest change that one run alone would show")
          .required(),
      field("verdict", &NewestRun::verdict,
            "SLOWER or FASTER; UNDECIDED: one run does not show a change")
          .required());
}

struct MetricHistory {
  std::string name;
  std::string unit;
  bool higher_is_better = false;
  std::vector<HistoryPoint> points;
  std::vector<HistoryChange> changes;
  std::optional<NewestRun> newest;
  Verdict verdict = Verdict::Undecided;

  bool operator==(const MetricHistory&) const = default;
};
constexpr auto fields(std::type_identity<MetricHistory>) {
  return field_list(
      field("name", &MetricHistory::name, "of the metric").required(),
      field("unit", &MetricHistory::unit, "of its values").required(),
      field("higher_is_better", &MetricHistory::higher_is_better, "false: lower is"),
      field("points", &MetricHistory::points, "oldest first; the last is the newest run")
          .required(),
      field("changes", &MetricHistory::changes, "of the level, oldest first").required(),
      field("newest", &MetricHistory::newest, "null: too few runs before it"),
      field("verdict", &MetricHistory::verdict,
            "of the last change, or of the newest run; UNDECIDED: neither shows a change")
          .required());
}

/// A run that is not in the series.
struct LeftOutRun {
  std::string folder;
  std::string why;

  bool operator==(const LeftOutRun&) const = default;
};
constexpr auto fields(std::type_identity<LeftOutRun>) {
  return field_list(field("folder", &LeftOutRun::folder, "below the root").required(),
                    field("why", &LeftOutRun::why, "the reason").required());
}

/// The result of `profline compare --history`: docs/formats/history.md.
struct History {
  static constexpr DocumentKind kKind{"history", 1};

  std::string root;
  std::string run;
  std::string experiment;
  std::string workload;
  std::string device_name;
  std::uint64_t asked = 0;
  double threshold = 0;
  double chance = 0;
  std::vector<MetricHistory> metrics;
  std::vector<LeftOutRun> left_out;
  std::vector<std::string> notes;
  std::vector<std::string> regressions;

  bool operator==(const History&) const = default;
};
constexpr auto fields(std::type_identity<History>) {
  return field_list(
      field("root", &History::root, "the folder of the runs").required(),
      field("run", &History::run, "the newest run").required(),
      field("experiment", &History::experiment, "of all these runs"),
      field("workload", &History::workload, "model or program of all these runs"),
      field("device_name", &History::device_name, "that all these runs used"),
      field("asked", &History::asked, "runs before the newest, at most").required(),
      field("threshold", &History::threshold, "changes up to this do not matter").required(),
      field("chance", &History::chance, "how often chance may look like a change, per metric")
          .required(),
      field("metrics", &History::metrics, "of the newest run").required(),
      field("left_out", &History::left_out, "runs of the same thing that are not compared")
          .required(),
      field("notes", &History::notes, "what a reader must know").required(),
      field("regressions", &History::regressions, "metrics whose verdict is SLOWER").required());
}

struct HistoryRequest {
  std::size_t most = 20;               ///< runs before the newest
  std::optional<double> threshold{};   ///< absent: 1 %, and 5 % on a CPU
  std::vector<std::string> metrics{};  ///< names, or names with `*` and `?`; empty: all
};

/// The history that ends with `newest`; `runs` are those below the root, newest first. Only runs of
/// the same experiment, model or program, configuration and kind of device that ended well count.
/// An Error of kind NotFound if no metric of the newest run matches a requested name.
Result<History> history_of(const std::string& root, const run_index::IndexedRun& newest,
                           std::span<const run_index::IndexedRun> runs,
                           const HistoryRequest& request);

/// Whether both are of one experiment, model or program and kind of machine. Their configurations
/// may differ.
bool are_related(const run_index::IndexedRun& a, const run_index::IndexedRun& b);
/// Whether both measured the same thing on the same kind of machine, apart from their commits.
bool are_comparable(const run_index::IndexedRun& a, const run_index::IndexedRun& b);

// For people.

/// `▁▁▂▁▇▇`: one mark per value, from the smallest to the largest.
std::string sparkline(std::span<const HistoryPoint> points);
/// `5.11 ms`.
std::string value_text(double value, std::string_view unit);
/// `, commit 1234 after 0123`; empty if the commit is not known or did not change.
std::string commit_words(const HistoryChange& change);
/// What a metric's history shows, in a sentence without a full stop.
std::string change_words(const MetricHistory& metric);
/// Markdown for a pull request or a job's summary.
std::string markdown_page(const History& history);
/// What a CI system lists: one per metric.
std::vector<comparison::Check> checks_of(const History& history);

}  // namespace profline::catalog
