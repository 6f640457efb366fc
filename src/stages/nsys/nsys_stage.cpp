#include "stages/nsys/nsys_stage.h"

#include "base/files.h"
#include "formats/sqlite.h"
#include "pipeline/profiled_requests.h"
#include "pipeline/run_files.h"
#include "pipeline/workload_command.h"
#include "stages/nsys/internal/captures.h"
#include "stages/nsys/internal/findings.h"
#include "stages/nsys/internal/tables.h"
#include "tools/nsys/contents.h"
#include "tools/nsys/export.h"
#include "tools/nsys/messages.h"
#include "tools/nsys/profile_command.h"
#include "tools/nsys/session.h"
#include "tools/nsys/stats_csv.h"

namespace profline::stages {
namespace {

namespace fs = std::filesystem;
using internal::NsysRegion;
using internal::NsysReport;
using pipeline::Finding;
using pipeline::PlannedCommand;
using pipeline::Severity;
using pipeline::StageContext;

/// What the built-in workload is given otherwise; a user's program is given nothing.
std::vector<pipeline::ConfigChange> changes_of(const pipeline::RunSetup& setup) {
  if (setup.settings.pipeline.workload.user_command()) return {};
  return pipeline::changes_under_profiler(setup.config);
}

pipeline::ProfiledRequests requests_of(const pipeline::RunSetup& setup) {
  return pipeline::profiled_requests(setup.settings, setup.settings.pipeline.nsys.samples);
}

/// `capture`; of several regions `capture decode`.
std::string command_name(std::string_view what, const std::string& name) {
  return name == "run" ? std::string(what) : std::string(what) + " " + name;
}

PlannedCommand capture_command(const StageContext& context, const NsysRegion& region) {
  const pipeline::RunSetup& setup = context.setup;
  const auto changes = changes_of(setup);
  const Command workload =
      workload_command(context, {.stage = "nsys",
                                 .mode = "profiled",
                                 .config = handed_config_file(setup, "nsys", changes),
                                 .out = region.workload(),
                                 .samples = requests_of(setup).count});
  const nsys::Capture capture{
      .session = region.session, .output = region.output(), .range = region.range};
  return {command_name("capture", region.name),
          nsys::profile_command(internal::nsys_of(context.tools), setup.settings.pipeline.nsys,
                                capture, workload)};
}

PlannedCommand export_command(const StageContext& context, const NsysReport& report) {
  return {
      command_name("export", report.name),
      nsys::export_command(internal::nsys_of(context.tools).program, report.report, report.sqlite)};
}

/// Written beside and renamed: nsys prints an excuse there when the capture has no kernels.
fs::path unfinished(const fs::path& file) {
  return file.parent_path() / ("." + file.filename().string());
}

PlannedCommand summary_command(const StageContext& context, const NsysReport& report) {
  return {command_name("kernel_summary", report.name),
          nsys::kernel_summary_command(internal::nsys_of(context.tools), report.sqlite,
                                       unfinished(report.summary))};
}

/// Whether a command was ended while it wrote: what it wrote to is not whole.
bool was_cut_off(const Exit& exit) {
  return exit.why != Exit::Why::Own || exit.signal.has_value();
}

/// Why what nsys stats wrote is no summary; empty: it is one.
Result<std::string> summary_problem(const Exit& exit, const fs::path& made,
                                    const NsysReport& report) {
  if (was_cut_off(exit)) return exit.describe();
  const auto table = nsys::read_kernel_summary(PL_TRY(read_file(made)), report.summary.string());
  return table ? std::string() : table.error().to_string();
}

/// One report, ready to be read.
Result<void> read_report(const StageContext& context, pipeline::StageRun& run,
                         const NsysReport& report) {
  const PlannedCommand exporting = export_command(context, report);
  const Exit exported = PL_TRY(run.execute(exporting));
  std::error_code failure;
  if (was_cut_off(exported)) fs::remove(report.sqlite, failure);
  if (exported.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  const auto contents = nsys::count_contents(report.sqlite, "");
  if (!contents) {
    run.tell(internal::export_failure(report, exported, contents.error()));
    return {};
  }
  if (contents->kernels == 0) return {};
  const Exit summed = PL_TRY(run.execute(summary_command(context, report)));
  const fs::path made = unfinished(report.summary);
  const std::string problem = PL_TRY(summary_problem(summed, made, report));
  if (problem.empty()) {
    fs::rename(made, report.summary, failure);
    return {};
  }
  fs::remove(made, failure);
  if (summed.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  run.tell({Severity::Warning, "kernel_summary",
            "nsys stats gave no summary of kernels: " + problem,
            "kernels.json has the same figures, computed from " + report.sqlite.string()});
  return {};
}

/// Why a capture that left nothing may come off at another try; empty: it will not.
std::string worth_another_try(const Exit& exit, const NsysRegion& region) {
  if (exit.why != Exit::Why::Own || !internal::nsys_reports(region).empty() ||
      !internal::unimported_captures(region).empty()) {
    return {};
  }
  const nsys::Messages messages = nsys::read_messages(exit.tail);
  if (messages.session_in_use) {
    return "nsys has another session of that name, perhaps one that is just ending";
  }
  const bool lost = messages.agent_lost || (exit.succeeded() && !messages.finished);
  return lost ? "nsys left no report and gave no reason" : "";
}

/// Runs nsys over the workload; again where that may help: it loses its agent now and then, and the
/// session of a capture that was cut off keeps its name for a moment.
Result<void> capture(const StageContext& context, pipeline::StageRun& run, NsysRegion region) {
  constexpr int kTries = 3;
  const std::string session = region.session;
  for (int n = 1;; ++n) {
    PlannedCommand planned = capture_command(context, region);
    if (n > 1) planned.name += " again";
    PL_TRY(pipeline::write_command_file(region.folder / "cmd.txt", planned.command,
                                        context.setup.redactor));
    run.remember_session(region.session);
    nsys::EndsSession ends_session(planned.command.argv.front(), region.session);
    const Exit exit = PL_TRY(run.execute(planned, &ends_session));
    if (exit.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
    const std::string why = worth_another_try(exit, region);
    if (why.empty() || n == kTries) {
      if (auto told = internal::capture_end(context, region, planned, exit)) {
        run.tell(std::move(*told));
      }
      return {};
    }
    run.tell({Severity::Warning, "nsys_retry", why + "; it is tried again"});
    region.session = session + "-" + std::to_string(n + 1);
  }
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
  const bool repeats = internal::repeats(own);
  pipeline::StagePlan plan;
  const bool is_built_in = !setup.settings.pipeline.workload.user_command();
  plan.changes = changes_of(setup);
  for (const NsysRegion& region : internal::nsys_regions(setup)) {
    plan.commands.push_back(capture_command(context, region));
    const NsysReport report = internal::expected_report(region, repeats);
    plan.commands.push_back(export_command(context, report));
    plan.commands.push_back(summary_command(context, report));
    if (repeats) plan.commands[plan.commands.size() - 2].condition = "for each run.N.nsys-rep";
    plan.commands.back().condition = "if kernels were captured";
    const fs::path below = region.folder.lexically_relative(setup.stage_folder(id()));
    for (const char* file : {"cmd.txt", "workload/log", "workload/samples.jsonl"}) {
      const bool is_there = is_built_in || fs::path(file).filename() != "samples.jsonl";
      if (is_there) plan.artifacts.push_back((below / file).lexically_normal().string());
    }
    for (const fs::path& file : {report.report, report.sqlite, report.summary}) {
      plan.artifacts.push_back(
          file.lexically_relative(setup.stage_folder(id())).lexically_normal().string());
    }
  }
  plan.artifacts.insert(plan.artifacts.end(), {"kernels.json", "kernels.md", "ranges.json"});
  pipeline::add_requests(requests_of(setup), id(), setup.settings, plan);
  for (const std::string& note : internal::capture_notes(setup)) plan.notes.push_back(note);
  return plan;
}

Result<void> NsysStage::run(const StageContext& context, pipeline::StageRun& run) const {
  for (const NsysRegion& region : internal::nsys_regions(context.setup)) {
    PL_TRY(create_folders(region.workload()));
    PL_TRY(capture(context, run, region));
    for (const NsysReport& report : internal::nsys_reports(region)) {
      PL_TRY(read_report(context, run, report));
    }
  }
  return {};
}

std::vector<Finding> NsysStage::verify(const StageContext& context) const {
  std::vector<Finding> findings;
  for (const NsysRegion& region : internal::nsys_regions(context.setup)) {
    for (Finding& finding : internal::check_region(context, region)) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Result<void> NsysStage::summarise(const StageContext& context, pipeline::StageRun& run) const {
  const internal::NsysTables tables = PL_TRY(internal::make_tables(context));
  for (const NsysCapture& capture : tables.ranges.captures) {
    for (const std::string& loss : capture.losses) {
      run.tell({Severity::Warning, "events_lost", "capture " + capture.name + ": " + loss});
    }
  }
  const fs::path folder = context.setup.stage_folder(id());
  PL_TRY(write_file_atomic(folder / "kernels.json", PL_TRY(to_document(tables.kernels))));
  PL_TRY(write_file_atomic(folder / "kernels.md", internal::kernels_page(tables)));
  return write_file_atomic(folder / "ranges.json", PL_TRY(to_document(tables.ranges)));
}

}  // namespace profline::stages
