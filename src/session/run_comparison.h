#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "comparison/compare.h"
#include "process/interrupt.h"

namespace profline::session {

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

/// What to compare, and by how much it may differ.
struct ComparisonWish {
  std::optional<double> threshold{};   ///< changes up to this do not matter; none: the usual one
  std::optional<double> run_spread{};  ///< by which two runs of the same thing may differ, if known
  std::vector<std::string> metrics{};  ///< only these rows; empty: all
};

/// Two runs, or two folders of runs. How far runs of the same things usually are apart is learnt
/// from those that lie beside them.
Result<comparison::Comparison> compare_runs(const std::filesystem::path& a,
                                            const std::filesystem::path& b,
                                            const ComparisonWish& wish, const Interrupt& interrupt);

}  // namespace profline::session
