#pragma once

#include <filesystem>
#include <functional>
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
#include "run_index/indexed_run.h"

namespace profline::session {

/// Runs that the caller knows already.
struct KnownRuns {
  /// Those directly below a folder.
  std::function<std::vector<run_index::IndexedRun>(const std::filesystem::path& folder)> below;
  /// Whether the files of one of them may be read.
  std::function<bool(const std::filesystem::path& run)> may_read;
};

/// What neighbouring runs say about the compared ones.
class EarlierRuns {
 public:
  /// `runs` are the compared folders. Roots that cannot be read are ignored. Runs that were opened
  /// before are not read again, and those of `known`, if given, are not looked for.
  EarlierRuns(std::span<const std::filesystem::path> runs, run::OpenedRuns& opened,
              const KnownRuns* known = nullptr);

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

/// The folders of the runs on each side.
struct ComparedFolders {
  std::vector<std::filesystem::path> a;
  std::vector<std::filesystem::path> b;
};
/// The same for runs that need not be in one folder. Reads only these and those that `known`
/// returns, and writes nothing.
Result<comparison::Comparison> compare_runs(const ComparedFolders& folders,
                                            const ComparisonRequest& request,
                                            const Interrupt& interrupt, const KnownRuns* known);

}  // namespace profline::session

/// Runs as jobs of sweeps.
namespace profline::session {

/// The swept values of runs that are jobs of a sweep (`batch=4 dtype=bf16`), by the run's folder
/// below the root. Other runs are not in it.
std::map<std::string, std::string> sweep_labels(const std::filesystem::path& root,
                                                const std::vector<run_index::IndexedRun>& runs);

/// Two sweeps, job by job.
struct SweepComparison {
  struct Pair {
    std::string overrides;  ///< by which they are the same job: `batch=4`
    std::string label;      ///< the values of swept keys
    comparison::Comparison comparison;
  };
  std::vector<Pair> pairs;
  std::vector<std::string> only_a;  ///< overrides of jobs that the other sweep does not have
  std::vector<std::string> only_b;
};

/// Compares the jobs of two sweeps that have the same values of the swept keys, or the same
/// overrides if the sweeps do not sweep the same keys. Nothing if neither folder is a
/// sweep of jobs that measure different things: jobs that measure the same are repetitions, and
/// compare_runs() compares them as a group. An Error of kind Config if one folder is such a sweep
/// and the other is not, or if the sweeps have no job in common.
Result<std::optional<SweepComparison>> compare_sweeps(const std::filesystem::path& a,
                                                      const std::filesystem::path& b,
                                                      const ComparisonRequest& request,
                                                      const Interrupt& interrupt);

}  // namespace profline::session
