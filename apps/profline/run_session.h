#pragma once

#include <filesystem>

#include "records/run_record.h"
#include "run_preparation.h"
#include "verb.h"

namespace profline {

/// What became of a run that started.
struct FinishedRun {
  std::filesystem::path folder;
  ExitCode code = ExitCode::Done;
  RunRecord record;
  std::string verdict;  ///< of the report; empty: none was written
};

/// Runs what was prepared: files of the run, stages, reports. An obstacle of the plan is the Error,
/// and nothing is left; `argv` is what the record says was typed.
Result<FinishedRun> start_run(PreparedRun& run, const RunWish& wish, const Services& services,
                              const Invocation& invocation);

/// Goes on with a run: ends what is left of it, then runs the stages that are not ok and those
/// whose inputs changed. `wish` names it and adds overrides to those it was started with.
Result<FinishedRun> resume_run(RunWish wish, const Services& services,
                               const Invocation& invocation);

}  // namespace profline
