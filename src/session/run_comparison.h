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
#include "run/run.h"

namespace profline::session {

/// What neighbouring runs say about the compared ones.
class EarlierRuns {
 public:
  /// `runs` are the compared folders. Roots that cannot be read are ignored. Runs that were opened
  /// before are not read again.
  EarlierRuns(std::span<const std::filesystem::path> runs, run::OpenedRuns& opened);

  /// How much runs of the same things differ in a metric or a stage. Includes the compared runs, so
  /// that an outlier among them counts as possible. Nothing if there are fewer than three of a
  /// kind.
  std::optional<comparison::KnownSpread> spread(const std::string& metric);

  /// Whether, as far as is known here, nothing ran on that machine in the hour before this run.
  bool opens_series(const std::filesystem::path& run) const;

 private:
  std::optional<statistics::RunSpread> spread_within(const std::string& metric) const;

  std::set<std::filesystem::path> openers_;
  /// Ordinary runs of each compared thing, without captures.
  std::vector<std::vector<comparison::RunMeasurements>> groups_;
  std::map<std::string, std::optional<comparison::KnownSpread>> known_;
};

/// What to compare, and which differences matter.
struct ComparisonRequest {
  std::optional<double> threshold{};   ///< smaller changes do not matter; absent: the default
  std::optional<double> run_spread{};  ///< known difference between two runs of the same thing
  std::vector<std::string> metrics{};  ///< only these rows; empty: all
};

/// Compares two runs, or two folders of runs. The usual spread between runs of the same things is
/// derived from neighbouring runs.
Result<comparison::Comparison> compare_runs(const std::filesystem::path& a,
                                            const std::filesystem::path& b,
                                            const ComparisonRequest& request,
                                            const Interrupt& interrupt);

}  // namespace profline::session
