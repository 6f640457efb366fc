#include "stages/nsys/internal/planned.h"

#include <optional>

#include "base/files.h"
#include "pipeline/workload_command.h"
#include "run/names/artifact_names.h"
#include "run/run_folder.h"
#include "tools/nsys/commands.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/nsys/stats_csv.h"

namespace profline::stages::internal {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::PlannedCommand;
using pipeline::Severity;
using pipeline::StageContext;

/// `capture`; with several sessions `capture decode`.
std::string command_name(std::string_view what, const std::string& name) {
  return name == "run" ? std::string(what) : std::string(what) + " " + name;
}

namespace {

PlannedCommand export_command(const StageContext& context, const NsysReport& report) {
  return {command_name("export", report.name),
          nsys::export_command(nsys_of(context.tools).program, report.report, report.sqlite)};
}

PlannedCommand summary_command(const StageContext& context, const NsysReport& report) {
  return {command_name("kernel_summary", report.name),
          nsys::kernel_summary_command(nsys_of(context.tools), report.sqlite,
                                       run::unfinished(report.summary))};
}

/// Applies the commands planned for one report to another: only now is it known how often a range
/// repeats.
PlannedCommand for_report(const PlannedCommand& planned, const std::string& name,
                          const NsysReport& expected, const NsysReport& report) {
  PlannedCommand other = planned;
  other.name = name;
  const std::pair<fs::path, fs::path> files[] = {{expected.report, report.report},
                                                 {expected.sqlite, report.sqlite}};
  for (std::string& word : other.command.argv) {
    for (const auto& [from, to] : files) {
      const std::size_t at = word.find(from.string());
      if (at != std::string::npos) word.replace(at, from.string().size(), to.string());
    }
  }
  if (other.command.out == run::unfinished(expected.summary)) {
    other.command.out = run::unfinished(report.summary);
  }
  return other;
}

/// Whether a command was stopped while it wrote, so that its output is incomplete.
bool was_cut_off(const Exit& exit) {
  return exit.why != Exit::Why::Own || exit.signal.has_value();
}

/// Why the output of nsys stats is not a summary; empty: it is one.
Result<std::string> summary_problem(const Exit& exit, const fs::path& made,
                                    const NsysReport& report) {
  if (was_cut_off(exit)) return exit.describe();
  const auto table = nsys::read_kernel_summary(PL_TRY(read_file(made)), report.summary.string());
  return table ? std::string() : table.error().to_string();
}

}  // namespace

/// What changes for the built-in workload; a user's program gets no changes.
std::vector<pipeline::ConfigChange> changes_of(const pipeline::RunSetup& setup) {
  if (setup.settings.pipeline.workload.user_command()) return {};
  return pipeline::changes_under_profiler(setup.config);
}

pipeline::ProfiledRequests requests_of(const pipeline::RunSetup& setup) {
  return pipeline::profiled_requests(setup.settings, setup.settings.pipeline.nsys.samples);
}

PlannedCommand capture_command(const StageContext& context, const NsysSession& session,
                               const program::ProgramRun& program) {
  const pipeline::RunSetup& setup = context.setup;
  const auto changes = changes_of(setup);
  const Command workload =
      workload_command(context, {.stage = run::stages::kNsys,
                                 .mode = "profiled",
                                 .config = handed_config_file(setup, run::stages::kNsys, changes),
                                 .out = session.workload(),
                                 .samples = requests_of(setup).count,
                                 .program = program});
  const nsys::Capture capture{
      .session = session.id, .output = session.output(), .range = session.range};
  return {command_name("capture", session.name),
          nsys::profile_command(nsys_of(context.tools), setup.settings.pipeline.nsys, capture,
                                workload)};
}

/// The same for a program whose gate the baseline decides.
PlannedCommand capture_command(const StageContext& context, const NsysSession& session,
                               CaptureGate kind) {
  program::ProgramRun program;
  if (kind == CaptureGate::Requests) program = gated_run(context.setup, program::GateKind::Cuda);
  PlannedCommand planned = capture_command(context, session, program);
  planned.name = capture_name(kind);
  planned.condition = condition_of(kind, context.setup);
  return planned;
}

Reading reading_of(const StageContext& context, const pipeline::StagePlan& plan,
                   const NsysSession& session, const NsysReport& report) {
  const NsysReport expected =
      expected_report(session, repeats(context.setup.settings.pipeline.nsys));
  const auto planned = [&](std::string_view what) {
    return for_report(plan.command(command_name(what, expected.name)),
                      command_name(what, report.name), expected, report);
  };
  return {planned("export"), planned("kernel_summary")};
}

/// Exports one report and reports what it lacks.
Result<void> read_report(const StageContext& context, pipeline::StageRun& run,
                         const NsysSession& session, const NsysReport& report,
                         const Reading& planned) {
  const Exit exported = PL_TRY(run.execute(planned.exporting));
  std::error_code failure;
  if (was_cut_off(exported)) fs::remove(report.sqlite, failure);
  if (exported.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  std::optional<Result<nsys::Export>> made;
  run.read([&] { made = nsys::read_export(report.sqlite, session.range); });
  if (!*made) {
    run.report(export_failure(report, exported, made->error()));
    return {};
  }
  nsys::Export content = std::move(*made).value();
  for (Finding& finding : check_contents(context, session, report, content.contents)) {
    run.report(std::move(finding));
  }
  if (auto missing = metrics_missing(context, session, report, content.timeline)) {
    run.report(std::move(*missing));
  }
  const bool has_kernels = content.contents.kernels > 0;
  run.keep_capture(within_stage(context.setup, report.sqlite), std::move(content.timeline));
  if (!has_kernels) return {};
  const Exit summed = PL_TRY(run.execute(planned.summing));
  const fs::path printed = run::unfinished(report.summary);
  const std::string problem = PL_TRY(summary_problem(summed, printed, report));
  if (problem.empty()) {
    fs::rename(printed, report.summary, failure);
    return {};
  }
  fs::remove(printed, failure);
  if (summed.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  run.report({Severity::Warning, "kernel_summary",
              "nsys stats gave no summary of kernels: " + problem,
              "kernels.json has the same figures, computed from " + report.sqlite.string()});
  return {};
}

void add_reading(const StageContext& context, const NsysReport& report, bool repeats,
                 pipeline::StagePlan& plan) {
  plan.commands.push_back(export_command(context, report));
  if (repeats) plan.commands.back().condition = "for each run.N.nsys-rep";
  plan.commands.push_back(summary_command(context, report));
  plan.commands.back().condition = "if kernels were captured";
}

}  // namespace profline::stages::internal
