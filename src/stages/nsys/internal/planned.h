#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/stage.h"
#include "pipeline/workload_stage.h"
#include "stages/nsys/internal/captures.h"
#include "workloads/program/environment.h"

/// The commands of the nsys stage, and reading the reports that they leave.
namespace profline::stages::internal {

/// What changes for the built-in workload; a user's program gets no changes.
std::vector<pipeline::ConfigChange> changes_of(const pipeline::RunSetup& setup);
pipeline::ProfiledRequests requests_of(const pipeline::RunSetup& setup);

/// `capture`; with several sessions `capture decode`.
std::string command_name(std::string_view what, const std::string& name);

pipeline::PlannedCommand capture_command(const pipeline::StageContext& context,
                                         const NsysSession& session,
                                         const program::ProgramRun& program = {});
/// The same for a program whose gate the baseline decides.
pipeline::PlannedCommand capture_command(const pipeline::StageContext& context,
                                         const NsysSession& session, CaptureGate kind);

/// The commands over one report.
struct Reading {
  pipeline::PlannedCommand exporting;
  pipeline::PlannedCommand summing;
};
void add_reading(const pipeline::StageContext& context, const NsysReport& report, bool repeats,
                 pipeline::StagePlan& plan);
Reading reading_of(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                   const NsysSession& session, const NsysReport& report);

/// Exports one report and reports what it lacks.
Result<void> read_report(const pipeline::StageContext& context, pipeline::StageRun& run,
                         const NsysSession& session, const NsysReport& report,
                         const Reading& planned);

// The stage on a program with ranks: nsys around the chosen ones.

pipeline::StagePlan rank_plan(const pipeline::StageContext& context);
Result<void> capture_ranks(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                           pipeline::StageRun& run);

}  // namespace profline::stages::internal
