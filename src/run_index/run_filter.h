#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "run_index/indexed_run.h"

namespace profline::run_index {

/// `token_ms`, `token_ms<5`, `tokens_per_s>=100`: a run has the figure, and it is so.
struct MetricCondition {
  enum class Relation { Any, Less, AtMost, More, AtLeast };

  std::string name;
  Relation relation = Relation::Any;
  double bound = 0;

  bool operator==(const MetricCondition&) const = default;
  bool holds(const IndexedRun& run) const;
};

/// An Error of kind Config for what is none.
Result<MetricCondition> parse_metric_condition(std::string_view text);

/// Which runs are meant. Texts are found anywhere in the field, letters of either case alike.
struct RunFilter {
  std::optional<std::string> experiment = {};
  std::optional<std::string> model = {};   ///< or the program that ran instead
  std::optional<std::string> device = {};  ///< `cuda:0`, or part of its name
  std::optional<std::string> since = {};   ///< a day or a moment of it, UTC: `2026-11-15`
  std::optional<std::string> until = {};   ///< the same; all of that day belongs to it
  std::vector<MetricCondition> metrics = {};

  bool holds(const IndexedRun& run) const;
};

/// A day (`2026-11-15`), with a time (`2026-11-15T10:20`) where wanted; an Error of kind Config
/// for anything else. `option` names it there.
Result<std::string> parse_moment(std::string_view text, std::string_view option);

}  // namespace profline::run_index
