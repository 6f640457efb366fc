#pragma once

#include <functional>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/result.h"
#include "pipeline/plan.h"
#include "process/interrupt.h"
#include "process/runner.h"
#include "run/run.h"
#include "run/run_journal.h"

namespace profline::pipeline {

/// The outside world as a run sees it.
struct RunServices {
  ProcessRunner& processes;
  const Interrupt& interrupt;
  Progress& progress;
  Log log;
  const Clock& clock;
};

/// Writes the reports of a run whose stages have ended.
using WriteReports = std::function<Result<void>(const run::Run& run)>;

/// Enters the planned stages into the record; those that will run are Pending. Stages of an earlier
/// attempt that are still valid keep their record and are not run again.
void enter_stages(const RunPlan& plan, RunRecord& record);

/// Runs the Pending stages of the record in order. run.json, which the caller has saved once, is
/// saved whenever a child starts, which also records the stage before, and at the end. The Error is
/// for what prevents the run from being recorded (a full disk); everything else is recorded and
/// reported. A failed stage does not stop the others unless `pipeline.keep_going` says so; an
/// interrupt does.
Result<ExitCode> execute(const RunPlan& plan, run::RunJournal& journal, const RunServices& services,
                         const WriteReports& write_reports);

}  // namespace profline::pipeline
