#pragma once

#include <functional>

#include "base/error.h"
#include "base/result.h"
#include "pipeline/live_stage_run.h"
#include "pipeline/plan.h"
#include "run/run.h"
#include "run/run_journal.h"

namespace profline::pipeline {

/// Writes the reports of a run whose stages are over.
using WriteReports = std::function<Result<void>(const run::Run& run)>;

/// Puts the planned stages into the record: what will run is Pending. Of an earlier attempt at the
/// same run, stages that are still good keep their record, and are not run again.
void enter_stages(const RunPlan& plan, RunRecord& record);

/// Runs the stages that the record has as Pending, in order. run.json, which the caller has saved
/// once, is saved when a child starts, which tells of the stage before too, and at the end. The
/// Error is for what keeps the run from being recorded (a full disk); all else is in the record,
/// and told. A stage that fails does not stop the others, unless `pipeline.keep_going` says so; an
/// interrupt does.
Result<ExitCode> execute(const RunPlan& plan, run::RunJournal& journal, const RunServices& services,
                         const WriteReports& write_reports);

}  // namespace profline::pipeline
