#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
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

/// What happens to a run.
struct PruneStep {
  enum class Action { Keep, Remove };

  IndexedRun run;
  Action action = Action::Keep;
  std::string why;  ///< `one of the 5 newest`, `older than the 5 newest`, `it is still running`
};

/// Keeps the `keep` newest of the finished runs and removes the others; a running one is kept and
/// does not count. `newest_first` as returned by RunIndex::runs(); pure.
std::vector<PruneStep> plan_prune(const std::vector<IndexedRun>& newest_first, std::size_t keep);

/// Size of all files below a folder.
std::uint64_t bytes_below(const std::filesystem::path& folder);

/// Removes a run while holding its lock. Returns nothing if it was removed, else why it was not (it
/// is still running, is not a run any more, or is not in the root). `folder` is relative to `root`;
/// no link on the path is followed. It vanishes from the root at once; removing its content takes
/// longer.
Result<std::optional<std::string>> remove_run(const std::filesystem::path& root,
                                              const std::filesystem::path& folder);

/// Removes the link `latest` of a root if its target is gone; returns whether it did.
bool remove_dangling_latest(const std::filesystem::path& root);

}  // namespace profline::run_index
