#pragma once

#include <filesystem>

#include "base/error.h"
#include "records/run_record.h"
#include "report/write_reports.h"
#include "session/run_preparation.h"

namespace profline::session {

/// The outcome of a run that started.
struct FinishedRun {
  std::filesystem::path folder;
  ExitCode code = ExitCode::Done;
  RunRecord record;
  std::string verdict;  ///< of the report; empty: no report was written
};

/// Runs a prepared run: writes its files, runs the stages, writes reports. If the plan has an
/// obstacle, that is the Error, and nothing is left on disk.
Result<FinishedRun> start_run(PreparedRun& run, const RunRequest& request,
                              const Services& services);

/// Resumes a run: ends what is left of it, then runs the stages that are not ok and those whose
/// inputs changed. `request` names the run and adds overrides to those it was started with.
Result<FinishedRun> resume_run(RunRequest request, const Services& services);

/// Writes every report of a run from its artifacts: summary.json, the pages and report.html.
Result<report::Written> write_every_report(const run::Run& run);

/// Writes all reports, and their digests into run.json. The record of a run that is still running,
/// or was killed, is left to whoever resumes it.
Result<report::Written> rewrite_reports(const std::filesystem::path& run);

}  // namespace profline::session
