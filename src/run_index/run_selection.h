#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "run_index/indexed_run.h"

namespace profline::run_index {

/// `token_ms`, `token_ms<5`, `tokens_per_s>=100`: a run has the figure, and it meets the condition.
struct MetricCondition {
  enum class Relation { Any, Less, AtMost, More, AtLeast };

  std::string name;
  Relation relation = Relation::Any;
  double bound = 0;

  bool operator==(const MetricCondition&) const = default;
  bool holds(const IndexedRun& run) const;
};

/// An Error of kind Config if `text` is not a condition.
Result<MetricCondition> parse_metric_condition(std::string_view text);

/// Selects runs. Texts match anywhere in the field, ignoring case.
struct RunFilter {
  std::optional<std::string> experiment = {};
  std::optional<std::string> model = {};   ///< or the program that ran instead
  std::optional<std::string> device = {};  ///< `cuda:0`, or part of its name
  std::optional<std::string> since = {};   ///< a day or a moment of it, UTC: `2026-11-15`
  std::optional<std::string> until = {};   ///< the same; all of that day is included
  std::vector<MetricCondition> metrics = {};

  bool holds(const IndexedRun& run) const;
};

/// A day (`2026-11-15`), optionally with a time (`2026-11-15T10:20`); an Error of kind Config,
/// which names `option`, for anything else.
Result<std::string> parse_moment(std::string_view text, std::string_view option);

// What consecutive runs say about each other.

/// Which runs open a series: no other of these ran on that machine in the hour before. Such a run
/// finds cold caches and a machine that was doing something else, and often differs from those that
/// follow. A run whose start is unknown does not open one.
std::vector<bool> opens_series(std::span<const IndexedRun> runs);

/// Which runs show the spread between runs of the same thing, by fingerprint: those that succeeded,
/// were not disturbed and do not open a series, the newest 50 of each.
std::map<std::string, std::vector<std::size_t>> usual_runs(std::span<const IndexedRun> runs);

}  // namespace profline::run_index
