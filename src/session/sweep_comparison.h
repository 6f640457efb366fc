#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run_index/indexed_run.h"
#include "session/run_comparison.h"

/// Runs as jobs of sweeps.
namespace profline::session {

/// The swept values of runs that are jobs of a sweep (`batch=4 dtype=bf16`), by the run's folder
/// below the root. Other runs are not in it.
std::map<std::string, std::string> sweep_labels(const std::filesystem::path& root,
                                                const std::vector<run_index::IndexedRun>& runs);

/// Two sweeps, job by job.
struct SweepComparison {
  struct Pair {
    std::string overrides;  ///< the same on both sides: `batch=4`
    comparison::Comparison comparison;
  };
  std::vector<Pair> pairs;
  std::vector<std::string> only_a;  ///< overrides of jobs that the other sweep does not have
  std::vector<std::string> only_b;
};

/// Compares the jobs of two sweeps that have the same overrides. Nothing if neither folder is a
/// sweep of jobs that measure different things: jobs that measure the same are repetitions, and
/// compare_runs() compares them as a group. An Error of kind Config if one folder is such a sweep
/// and the other is not, or if the sweeps have no job in common.
Result<std::optional<SweepComparison>> compare_sweeps(const std::filesystem::path& a,
                                                      const std::filesystem::path& b,
                                                      const ComparisonRequest& request,
                                                      const Interrupt& interrupt);

}  // namespace profline::session
