#include <algorithm>

#include "base/files.h"
#include "run/names/artifact_names.h"
#include "run/run_folder.h"
#include "stages/nsys/internal/planned.h"
#include "stages/ranks/ranked_stage.h"

namespace profline::stages::internal {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::RunSetup;
using pipeline::Severity;
using pipeline::StageContext;

constexpr const char* kStage = run::stages::kNsys;

/// One launch of all ranks: a gate that the baseline suggests, or a session of the settings.
struct RankCapture {
  std::string name;  ///< of the launch; empty: there is only one
  std::string condition{};
  std::optional<CaptureGate> gate{};
  std::size_t session = 0;
};

std::vector<RankCapture> rank_captures(const StageContext& context) {
  const RunSetup& setup = context.setup;
  std::vector<RankCapture> captures;
  if (takes_baselines_gate(setup)) {
    for (const CaptureGate gate : gate_kinds()) {
      if (gate == CaptureGate::Requests && !uses_adapter(context)) continue;
      const std::string name = capture_name(gate);
      captures.push_back({name, condition_of(gate, setup), gate});
    }
    return captures;
  }
  const std::vector<NsysSession> sessions = nsys_sessions(setup);
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    captures.push_back({sessions.size() == 1 ? "" : sessions[i].name, {}, {}, i});
  }
  return captures;
}

RunSetup captured_as(const RunSetup& setup, const RankCapture& capture) {
  return capture.gate ? gated(setup, *capture.gate) : setup;
}

NsysSession session_of(const RunSetup& setup, const RankCapture& capture) {
  return nsys_sessions(captured_as(setup, capture))[capture.session];
}

/// How a rank runs in a capture.
RankRunOf run_of(const RankCapture& capture) {
  return [capture](const StageContext& context) {
    const RunSetup setup = captured_as(context.setup, capture);
    const StageContext gated_context{setup, context.tools};
    const NsysSession session = session_of(context.setup, capture);
    const pipeline::PlannedCommand planned =
        capture.gate ? capture_command(gated_context, session, *capture.gate)
                     : capture_command(gated_context, session);
    return RankRun{.command = planned.command, .session = session.id};
  };
}

/// Reads what nsys left of one rank.
Result<void> read_rank(const StageContext& context, const RankCapture& capture, const Exit& exit,
                       const std::optional<CapturedRequests>& captured, pipeline::StageRun& run) {
  const RunSetup setup = captured_as(context.setup, capture);
  const StageContext of_rank{setup, context.tools};
  const NsysSession session = session_of(context.setup, capture);
  const bool repeated = repeats(setup.settings.pipeline.nsys);
  pipeline::StagePlan plan;
  add_reading(of_rank, expected_report(session, repeated), repeated, plan);
  if (exit.succeeded()) {  // otherwise the launch has reported it
    const pipeline::PlannedCommand planned{"capture", run_of(capture)(context).command};
    if (auto finding = capture_end(of_rank, session, planned, exit)) {
      run.report(std::move(*finding));
    }
  }
  for (const NsysReport& report : nsys_reports(session)) {
    PL_TRY(read_report(of_rank, run, session, report, reading_of(of_rank, plan, session, report)));
  }
  return write_profiled_requests(setup, session.workload(), session.workload(),
                                 {.captured = captured});
}

/// Launches all ranks, and reads the reports of those that were captured. False: the gate stayed
/// closed in all of them.
Result<bool> capture_once(const StageContext& context, const pipeline::StagePlan& plan,
                          const RankCapture& capture, const ProgramGate* gate,
                          pipeline::StageRun& run) {
  const RunSetup& setup = context.setup;
  const std::vector<std::uint32_t> ranks = observed_ranks(setup, kStage);
  for (const std::uint32_t rank : ranks) {
    const RunSetup one = for_rank(setup, rank);
    PL_TRY(create_folders(session_of(one, capture).workload()));
    forget_recorded(session_of(one, capture).workload());
    if (gate != nullptr) PL_TRY(write_gate(one.stage_folder(kStage), *gate));
    const RankRun planned = run_of(capture)({one, context.tools});
    PL_TRY(run::write_command_file(session_of(one, capture).folder / run::files::kCommand,
                                   planned.command, setup.redactor));
  }
  const Launched launched =
      PL_TRY(launch(context, kStage, plan, run_of(capture), std::nullopt, run, capture.name));
  bool has_opened = !capture.gate || *capture.gate == CaptureGate::Everything;
  for (const std::uint32_t rank : ranks) {
    const RunSetup one = for_rank(setup, rank);
    const NsysSession session = session_of(one, capture);
    has_opened |= !never_opened(session, launched.exit_of(rank, session.log()));
  }
  if (!has_opened) return false;
  for (const std::uint32_t rank : ranks) {
    const RunSetup one = for_rank(setup, rank);
    const NsysSession session = session_of(one, capture);
    OneRankRun of_one(run, rank);
    std::optional<CapturedRequests> captured;
    if (capture.gate == CaptureGate::Ranges && gate != nullptr) {
      captured = drop_warm_up(session, *gate);
      report_cold(*captured, *gate, of_one);
    }
    PL_TRY(read_rank({one, context.tools}, capture, launched.exit_of(rank, session.log()), captured,
                     of_one));
  }
  return true;
}

}  // namespace

pipeline::StagePlan rank_plan(const StageContext& context) {
  const RunSetup& setup = context.setup;
  pipeline::StagePlan plan;
  for (const RankCapture& capture : rank_captures(context)) {
    add_launch(context, kStage, run_of(capture), plan, capture.name, capture.condition);
  }
  const RankCapture last = rank_captures(context).back();
  const RunSetup lead = captured_as(for_rank(setup, lead_rank(setup, kStage)), last);
  const bool repeated = repeats(lead.settings.pipeline.nsys);
  const NsysSession session = session_of(for_rank(setup, lead_rank(setup, kStage)), last);
  add_reading({lead, context.tools}, expected_report(session, repeated), repeated, plan);
  plan.artifacts.insert(plan.artifacts.end(), {run::files::kKernels, run::files::kKernelsPage,
                                               run::files::kRanges, run::files::kLog});
  if (takes_baselines_gate(setup)) plan.artifacts.emplace_back(run::files::kGate);
  for (const std::string& note : capture_notes(setup)) plan.notes.push_back(note);
  plan.notes.emplace_back("the reports of the other profiled ranks are exported likewise");
  if (takes_baselines_gate(setup)) {
    plan.notes.emplace_back(
        "capture ranges: closing a capture holds up its rank for up to a second, and the others "
        "wait for it in their next collective; pipeline.nsys.gating_nvtx=false captures each rank "
        "in one piece");
  }
  return plan;
}

Result<void> capture_ranks(const StageContext& context, const pipeline::StagePlan& plan,
                           pipeline::StageRun& run) {
  const RunSetup& setup = context.setup;
  const std::vector<RankCapture> captures = rank_captures(context);
  if (!takes_baselines_gate(setup)) {
    for (const RankCapture& capture : captures) {
      PL_TRY(capture_once(context, plan, capture, nullptr, run));
    }
    return {};
  }
  const auto of_gate = [&](CaptureGate gate) {
    return *std::find_if(captures.begin(), captures.end(),
                         [&](const RankCapture& one) { return one.gate == gate; });
  };
  const RunSetup lead = for_rank(setup, lead_rank(setup, kStage));
  ProgramGate gate = choose_gate({lead, context.tools});
  PL_TRY(write_gate(setup.stage_folder(kStage), gate));
  if (PL_TRY(capture_once(context, plan, of_gate(gate.gate), &gate, run))) return {};
  run.report({Severity::Warning, "gate_stayed_closed",
              "nothing opened the capture of " + gate.why + " in any rank",
              "nsys runs once more and captures the whole program; "
              "pipeline.nsys.gating_nvtx=false does so at once"});
  gate = {.why = "the gate stayed closed: " + gate.why};
  PL_TRY(write_gate(setup.stage_folder(kStage), gate));
  PL_TRY(capture_once(context, plan, of_gate(CaptureGate::Everything), &gate, run));
  return {};
}

}  // namespace profline::stages::internal
