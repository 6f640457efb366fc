#include "stages/nsys/nsys_stage.h"

#include <optional>

#include "base/files.h"
#include "pipeline/workload_stage.h"
#include "run/names/artifact_names.h"
#include "run/run_folder.h"
#include "stages/nsys/internal/captures.h"
#include "stages/nsys/internal/planned.h"
#include "stages/ranks/ranked_stage.h"
#include "tools/nsys/commands.h"

namespace profline::stages {
namespace {

namespace fs = std::filesystem;
using internal::add_reading;
using internal::capture_command;
using internal::command_name;
using internal::NsysReport;
using internal::NsysSession;
using internal::read_report;
using internal::reading_of;
using pipeline::Finding;
using pipeline::PlannedCommand;
using pipeline::Severity;
using pipeline::StageContext;

/// Why another attempt may succeed after a capture that left nothing; empty: it will not.
std::string worth_another_try(const Exit& exit, const NsysSession& session) {
  if (exit.why != Exit::Why::Own || !internal::nsys_reports(session).empty() ||
      !internal::unimported_captures(session).empty()) {
    return {};
  }
  if (nsys::refuses_metrics(exit))
    return "nsys cannot sample the GPU's metrics here, and did not start";
  const nsys::Messages messages = nsys::read_messages(exit.tail);
  if (messages.session_in_use) {
    return "nsys has another session of that name, perhaps one that is just ending";
  }
  if (messages.agent_lost) return "nsys lost the connection to its agent and left no report";
  return exit.succeeded() && !messages.finished ? "nsys left no report and gave no reason" : "";
}

/// Runs nsys over the workload, and again where that may help: it loses its agent now and then, and
/// the session of an interrupted capture keeps its name for a moment.
Result<Exit> run_nsys(const StageContext& context, const PlannedCommand& first_try,
                      pipeline::StageRun& run, NsysSession session) {
  constexpr int kTries = 3;
  const std::string first_id = session.id;
  bool without_metrics = false;
  for (int n = 1;; ++n) {
    PlannedCommand planned = first_try;
    if (n > 1) {
      forget_recorded(session.workload());
      planned.name += " again";
      planned.command = nsys::in_session(std::move(planned.command), session.id);
      if (without_metrics) planned.command = nsys::without_metrics(std::move(planned.command));
    }
    PL_TRY(run::write_command_file(session.folder / run::files::kCommand, planned.command,
                                   context.setup.redactor));
    run.remember_session(session.id);
    nsys::EndsSession ends_session(planned.command.argv.front(), session.id);
    const Exit exit = PL_TRY(run.execute(planned, &ends_session));
    if (exit.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
    const std::string why = worth_another_try(exit, session);
    if (why.empty() || n == kTries) {
      if (auto finding = internal::capture_end(context, session, planned, exit)) {
        run.report(std::move(*finding));
      }
      return exit;
    }
    run.report({Severity::Warning, "nsys_retry", why + "; trying again"});
    without_metrics = without_metrics || nsys::refuses_metrics(exit);
    session.id = first_id + "-" + std::to_string(n + 1);
  }
}

/// Every form of the capture whose gate the baseline decides, and the commands over the reports of
/// the form that repeats; those of the others are the same.
void add_gated_captures(const StageContext& context, pipeline::StagePlan& plan) {
  for (const CaptureGate kind : internal::gate_kinds()) {
    if (kind == CaptureGate::Requests && !uses_adapter(context)) continue;
    const pipeline::RunSetup setup = internal::gated(context.setup, kind);
    const StageContext gated{setup, context.tools};
    plan.commands.push_back(capture_command(gated, internal::nsys_sessions(setup).front(), kind));
  }
  const pipeline::RunSetup setup = internal::gated(context.setup, CaptureGate::Ranges);
  const NsysReport report = internal::expected_report(internal::nsys_sessions(setup).front(), true);
  add_reading({setup, context.tools}, report, true, plan);
}

void keep_everything() {}

/// Captures and reads one session. `keep` deletes captures that are not wanted.
template <typename Keep>
Result<Exit> capture(const StageContext& context, const pipeline::StagePlan& plan,
                     pipeline::StageRun& run, const PlannedCommand& command,
                     const NsysSession& session, const Keep& keep) {
  PL_TRY(create_folders(session.workload()));
  const Exit exit = PL_TRY(run_nsys(context, command, run, session));
  keep();
  for (const NsysReport& report : internal::nsys_reports(session)) {
    PL_TRY(read_report(context, run, session, report, reading_of(context, plan, session, report)));
  }
  return exit;
}

/// Captures the requests that the baseline's gate chooses, or everything if the gate stays closed.
Result<void> capture_program(const StageContext& context, const pipeline::StagePlan& plan,
                             pipeline::StageRun& run) {
  const fs::path folder = context.setup.stage_folder(run::stages::kNsys);
  ProgramGate gate = choose_gate(context);
  PL_TRY(write_gate(folder, gate));
  const auto capture_with = [&](CaptureGate kind) -> Result<bool> {
    const pipeline::RunSetup setup = internal::gated(context.setup, kind);
    const StageContext gated{setup, context.tools};
    const NsysSession session = internal::nsys_sessions(setup).front();
    std::optional<CapturedRequests> captured;
    const auto keep_steady = [&] {
      if (kind == CaptureGate::Ranges) captured = internal::drop_warm_up(session, gate);
    };
    const Exit exit = PL_TRY(capture(gated, plan, run, plan.command(internal::capture_name(kind)),
                                     session, keep_steady));
    if (captured) internal::report_cold(*captured, gate, run);
    PL_TRY(write_profiled_requests(setup, session.workload(), session.workload(),
                                   {.captured = captured}));
    return kind == CaptureGate::Everything || !internal::never_opened(session, exit);
  };
  if (PL_TRY(capture_with(gate.gate))) return {};
  const NsysSession session = internal::nsys_sessions(context.setup).front();
  const std::string cause = adapter_problem(context.setup, session.workload());
  run.report({Severity::Warning, "gate_stayed_closed",
              "nothing opened the capture of " + gate.why + (cause.empty() ? "" : ": " + cause),
              "nsys runs once more and captures the whole program; "
              "pipeline.nsys.gating_nvtx=false does so at once"});
  gate = {.why = "the gate stayed closed: " + gate.why};
  forget_recorded(session.workload());
  PL_TRY(write_gate(folder, gate));
  PL_TRY(capture_with(CaptureGate::Everything));
  return {};
}

}  // namespace

pipeline::Stage::Needs NsysStage::needs(const settings::Root& settings) const {
  return {.workload = !settings.pipeline.workload.user_command(), .nsys = true};
}

std::vector<Finding> NsysStage::preflight(const StageContext& context) const {
  return internal::nsys_preflight(context);
}

pipeline::StagePlan NsysStage::plan(const StageContext& context) const {
  const pipeline::RunSetup& setup = context.setup;
  const settings::Nsys& own = setup.settings.pipeline.nsys;
  if (has_ranks(setup)) return internal::rank_plan(context);
  const bool repeats = internal::repeats(own);
  pipeline::StagePlan plan;
  const bool is_built_in = !setup.settings.pipeline.workload.user_command();
  plan.changes = internal::changes_of(setup);
  const bool chooses = internal::takes_baselines_gate(setup);
  if (chooses) add_gated_captures(context, plan);
  for (const NsysSession& session : internal::nsys_sessions(setup)) {
    if (!chooses) plan.commands.push_back(capture_command(context, session));
    const NsysReport report = internal::expected_report(session, repeats);
    add_reading(context, report, repeats, plan);
    const fs::path below = session.folder.lexically_relative(setup.stage_folder(id()));
    for (const char* file :
         {run::files::kCommand, run::paths::kWorkloadLog, run::paths::kWorkloadRequests}) {
      const bool is_there = is_built_in || fs::path(file).filename() != run::files::kRequests;
      if (is_there) plan.artifacts.push_back((below / file).lexically_normal().string());
    }
    for (const fs::path& file : {report.report, report.sqlite, report.summary}) {
      plan.artifacts.push_back(
          file.lexically_relative(setup.stage_folder(id())).lexically_normal().string());
    }
  }
  if (chooses) plan.artifacts.emplace_back(run::files::kGate);
  plan.artifacts.insert(plan.artifacts.end(),
                        {run::files::kKernels, run::files::kKernelsPage, run::files::kRanges});
  pipeline::add_requests(internal::requests_of(setup), id(), setup.settings, plan);
  for (const std::string& note : internal::capture_notes(setup)) plan.notes.push_back(note);
  return plan;
}

Result<void> NsysStage::run(const StageContext& context, const pipeline::StagePlan& plan,
                            pipeline::StageRun& run) const {
  if (has_ranks(context.setup)) return internal::capture_ranks(context, plan, run);
  if (internal::takes_baselines_gate(context.setup)) return capture_program(context, plan, run);
  for (const NsysSession& session : internal::nsys_sessions(context.setup)) {
    PL_TRY(capture(context, plan, run, plan.command(command_name("capture", session.name)), session,
                   keep_everything));
    if (!is_program(context.setup)) continue;
    PL_TRY(write_profiled_requests(context.setup, session.workload(), session.workload()));
  }
  return {};
}

std::vector<Finding> NsysStage::verify(const StageContext& context, const run::Run& files) const {
  std::vector<Finding> findings;
  if (has_ranks(context.setup) && !context.setup.rank) {
    for (const std::uint32_t rank : observed_ranks(context.setup, id())) {
      const pipeline::RunSetup one = for_rank(context.setup, rank);
      for (Finding& finding : of_rank(verify({one, context.tools}, files), rank)) {
        findings.push_back(std::move(finding));
      }
    }
    return findings;
  }
  const pipeline::RunSetup setup = internal::as_captured(context.setup);
  const StageContext captured{setup, context.tools};
  for (const NsysSession& session : internal::nsys_sessions(setup)) {
    for (Finding& finding : internal::check_session(captured, session)) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Result<void> NsysStage::summarise(const StageContext& context, const run::Run& files,
                                  pipeline::StageRun& run) const {
  if (has_ranks(context.setup) && !context.setup.rank) {
    for (const std::uint32_t rank : observed_ranks(context.setup, id())) {
      const pipeline::RunSetup one = for_rank(context.setup, rank);
      OneRankRun of_one(run, rank);
      PL_TRY(summarise({one, context.tools}, files, of_one));
    }
    run.report(lead_finding(context.setup, id()));
    for (const char* file : {run::files::kKernels, run::files::kKernelsPage, run::files::kRanges,
                             run::paths::kWorkloadRequests}) {
      PL_TRY(lift_file(context.setup, id(), lead_rank(context.setup, id()), file));
    }
    return {};
  }
  const pipeline::RunSetup setup = internal::as_captured(context.setup);
  const internal::NsysTables tables =
      PL_TRY(internal::make_tables({setup, context.tools}, files, run));
  for (const NsysCapture& capture : tables.ranges.captures) {
    for (const std::string& loss : capture.losses) {
      run.report({Severity::Warning, "events_lost", "capture " + capture.name + ": " + loss});
    }
  }
  const fs::path folder = context.setup.stage_folder(id());
  PL_TRY(write_file_atomic(folder / run::files::kKernels, PL_TRY(to_document(tables.kernels))));
  PL_TRY(write_file_atomic(folder / run::files::kKernelsPage, internal::kernels_page(tables)));
  return write_file_atomic(folder / run::files::kRanges, PL_TRY(to_document(tables.ranges)));
}

}  // namespace profline::stages
