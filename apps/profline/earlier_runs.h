#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "comparison/compare.h"

namespace profline {

/// What the runs beside those compared say about them.
class EarlierRuns {
 public:
  /// `runs` are the folders compared. Roots that cannot be read say nothing.
  explicit EarlierRuns(std::span<const std::filesystem::path> runs);

  /// How far runs of the same things are apart in a metric or a stage, those compared among them,
  /// so that one that strays is known to be possible. Nothing when there are fewer than three of a
  /// kind.
  std::optional<comparison::KnownSpread> spread(const std::string& metric);

  /// Whether nothing ran on that machine in the hour before this run, as far as is known here.
  bool opens_series(const std::filesystem::path& run) const;

 private:
  std::optional<statistics::RunSpread> spread_within(const std::string& metric) const;

  std::set<std::filesystem::path> openers_;
  /// Usual runs of each thing that is compared, without captures.
  std::vector<std::vector<comparison::RunMeasurements>> groups_;
  std::map<std::string, std::optional<comparison::KnownSpread>> known_;
};

}  // namespace profline
