#pragma once

#include <filesystem>

#include "base/error.h"
#include "records/run_record.h"
#include "report/write_reports.h"
#include "session/run_preparation.h"

namespace profline::session {

/// What became of a run that started.
struct FinishedRun {
  std::filesystem::path folder;
  ExitCode code = ExitCode::Done;
  RunRecord record;
  std::string verdict;  ///< of the report; empty: none was written
};

/// Runs what was prepared: files of the run, stages, reports. An obstacle of the plan is the Error,
/// and nothing is left.
Result<FinishedRun> start_run(PreparedRun& run, const RunWish& wish, const Services& services);

/// Goes on with a run: ends what is left of it, then runs the stages that are not ok and those
/// whose inputs changed. `wish` names it and adds overrides to those it was started with.
Result<FinishedRun> resume_run(RunWish wish, const Services& services);

/// Writes all that people and programs read of a run, from its artifacts: summary.json, the pages
/// and report.html.
Result<report::Written> write_every_report(const run::Run& run);

/// Writes all reports, and their digests into run.json. The record of a run that is going on, or
/// was killed, is left to whoever goes on with it.
Result<report::Written> rewrite_reports(const std::filesystem::path& run);

}  // namespace profline::session
