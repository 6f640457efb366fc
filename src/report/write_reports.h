#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "summary/run_artifacts.h"

namespace profline::report {

struct Written {
  std::vector<std::filesystem::path> files;  ///< relative to the run's folder
  std::string verdict;                       ///< one sentence, for the terminal
};

/// Writes summary.json, report.md, operators.md, kernels.md and stakeholder_summary.md of a run
/// from what its stages left; the same bytes for the same artifacts. What is missing is told in
/// them. An Error when the folder holds no run, or cannot be written to.
Result<Written> write_reports(const std::filesystem::path& run);

/// The same of a run that was read: a trace of gigabytes is read once for all reports.
Result<Written> write_reports(const summary::RunArtifacts& run);

}  // namespace profline::report
