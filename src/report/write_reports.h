#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/run_summary.h"
#include "run/artifacts.h"
#include "run/run.h"

namespace profline::report {

struct Written {
  std::vector<std::filesystem::path> files;  ///< relative to the run's folder
  std::string verdict;                       ///< one sentence, for the terminal
};

/// Writes summary.json, report.md, operators.md, kernels.md and stakeholder_summary.md into the
/// run's folder; the same artifacts give the same bytes. The pages say what is missing. A run that
/// is only a load gets the first two.
Result<Written> write_reports(const run::Run& run, const RunSummary& summary);

/// What the pages are written from: the summary, and the run for artifacts that are shown as they
/// are.
struct ReportModel {
  const run::Run& run;
  const RunSummary& summary;
};

/// `report.md`: verdict first, then evidence, then tables.
std::string report_page(const ReportModel& model);
/// The part of report.md about the load on a server; empty: the run has no load.
std::string load_section(const RunSummary& summary);
/// The runs of a server under load; empty: the run has no server.
std::string server_section(const RunSummary& summary);
/// The ranks of a program, compared; empty: it did not run on several.
std::string ranks_section(const RunSummary& summary);
/// `operators.md`: the time of libtorch's operators, in total and per phase.
std::string operators_page(const ReportModel& model);
/// `kernels.md`: one row per kernel with what each tool knows about it.
std::string kernels_page(const ReportModel& model);
/// `stakeholder_summary.md`: verdict, evidence and next step in words.
std::string stakeholder_page(const ReportModel& model);

}  // namespace profline::report
