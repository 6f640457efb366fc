#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "comparison/compare.h"
#include "run_index/indexed_run.h"

namespace profline {

/// What the runs beside those compared say about them.
class EarlierRuns {
 public:
  /// `runs` are the folders compared. Roots that cannot be read say nothing.
  explicit EarlierRuns(std::span<const std::filesystem::path> runs);

  /// How far runs of the same things are apart, those compared among them, so that one that strays
  /// is known to be possible. Nothing when there are fewer than three of a kind.
  std::optional<comparison::KnownSpread> spread(const std::string& metric);

  /// Whether nothing ran on that machine in the hour before this run, as far as is known here.
  bool opens_series(const std::filesystem::path& run) const;

 private:
  std::vector<run_index::IndexedRun> known_runs_;
  std::set<std::filesystem::path> openers_;
  std::set<std::string> fingerprints_;  ///< of the runs compared
  std::map<std::string, std::optional<comparison::KnownSpread>> known_;
};

}  // namespace profline
