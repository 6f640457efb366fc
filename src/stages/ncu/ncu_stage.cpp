#include "stages/ncu/ncu_stage.h"

#include "base/files.h"
#include "pipeline/workload_command.h"
#include "stages/ncu/internal/files.h"
#include "stages/ncu/internal/findings.h"
#include "stages/ncu/internal/tables.h"
#include "tools/ncu/metrics.h"
#include "tools/ncu/profile_command.h"

namespace profline::stages {
namespace {

namespace fs = std::filesystem;
using internal::NcuFiles;
using pipeline::Finding;
using pipeline::PlannedCommand;
using pipeline::Severity;
using pipeline::StageContext;

/// What the built-in workload is given otherwise; a user's program is given nothing.
std::vector<pipeline::ConfigChange> changes_of(const pipeline::RunSetup& setup) {
  if (setup.settings.pipeline.workload.user_command()) return {};
  return pipeline::changes_under_profiler(setup.config);
}

PlannedCommand capture_command(const StageContext& context, bool rerun) {
  const pipeline::RunSetup& setup = context.setup;
  const settings::Ncu& own = setup.settings.pipeline.ncu;
  const NcuFiles files(setup);
  const auto changes = changes_of(setup);
  const Command workload =
      workload_command(context, {.stage = "ncu",
                                 .mode = "profiled",
                                 .config = handed_config_file(setup, "ncu", changes),
                                 .out = files.workload(rerun),
                                 .samples = own.samples});
  ncu::Capture capture{.output = files.output(), .log = files.log(rerun)};
  if (rerun) capture.without_gate = own.rerun_launch_count;
  PlannedCommand planned{
      rerun ? "rerun" : "capture",
      ncu::profile_command(internal::ncu_of(context.tools), own, capture, workload)};
  if (rerun) planned.condition = "if the gate lets nothing through";
  return planned;
}

/// Written beside and renamed, so that a file is there when it is complete.
fs::path unfinished(const fs::path& file) {
  return file.parent_path() / ("." + file.filename().string());
}

PlannedCommand sections_command(const StageContext& context) {
  return {"list_sections",
          ncu::list_sections_command(internal::ncu_of(context.tools),
                                     unfinished(NcuFiles(context.setup).sections()))};
}

PlannedCommand raw_csv_command(const StageContext& context) {
  const NcuFiles files(context.setup);
  return {"raw_csv",
          ncu::raw_csv_command(internal::ncu_of(context.tools), files.report(),
                               unfinished(files.raw_csv())),
          "if there is a report"};
}

PlannedCommand details_command(const StageContext& context) {
  const NcuFiles files(context.setup);
  return {"sections_report",
          ncu::details_command(internal::ncu_of(context.tools), files.report(),
                               unfinished(files.sections_report())),
          "if there is a report"};
}

/// Runs what writes one file, and puts that into its place when it succeeded.
Result<void> make_file(pipeline::StageRun& run, const PlannedCommand& planned,
                       const fs::path& file) {
  const Exit exit = PL_TRY(run.execute(planned));
  const fs::path made = unfinished(file);
  std::error_code failure;
  if (exit.succeeded()) {
    fs::rename(made, file, failure);
    return {};
  }
  fs::remove(made, failure);
  run.tell(
      {Severity::Warning, "import_failed",
       planned.name + " (ncu) " + exit.describe() + ", so there is no " + file.filename().string(),
       exit.tail.empty() ? "" : "it said: " + exit.tail});
  return {};
}

/// One try.
Result<void> capture(const StageContext& context, pipeline::StageRun& run, bool rerun) {
  const NcuFiles files(context.setup);
  PL_TRY(create_folders(files.workload(rerun)));
  const PlannedCommand planned = capture_command(context, rerun);
  PL_TRY(write_file_atomic(files.command(rerun), display(planned.command) + "\n"));
  const Exit exit = PL_TRY(run.execute(planned));
  if (exit.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  if (auto told = internal::capture_end(context, planned, exit, rerun)) {
    run.tell(std::move(*told));
  }
  return {};
}

/// Whether a try without the gate is worth its time.
bool gate_let_nothing_through(const StageContext& context) {
  const NcuFiles files(context.setup);
  if (files.has_report() || ncu::gate(context.setup.settings.pipeline.ncu).empty()) return false;
  const ncu::Messages messages = internal::messages_of(files, false);
  return !messages.nothing_profiled.empty() && !messages.no_libcuda && !messages.counters_denied &&
         !messages.application_code;
}

}  // namespace

pipeline::Stage::Needs NcuStage::needs(const settings::Root& settings) const {
  return {.workload = !settings.pipeline.workload.user_command(), .ncu = true};
}

std::vector<Finding> NcuStage::preflight(const StageContext& context) const {
  return internal::ncu_preflight(context);
}

pipeline::StagePlan NcuStage::plan(const StageContext& context) const {
  const settings::Ncu& own = context.setup.settings.pipeline.ncu;
  pipeline::StagePlan plan;
  const bool is_built_in = !context.setup.settings.pipeline.workload.user_command();
  plan.changes = changes_of(context.setup);
  plan.commands = {sections_command(context), capture_command(context, false)};
  const bool is_gated = !ncu::gate(own).empty();
  if (is_gated) plan.commands.push_back(capture_command(context, true));
  if (own.ncu_cli.export_files.csv) plan.commands.push_back(raw_csv_command(context));
  plan.commands.push_back(details_command(context));
  plan.artifacts = {"sections.txt",        "cmd.txt",      "ncu.log",    "run.ncu-rep",
                    "sections_report.txt", "kernels.json", "kernels.md", "workload/log"};
  if (is_built_in) plan.artifacts.emplace_back("workload/samples.jsonl");
  if (own.ncu_cli.export_files.csv) plan.artifacts.emplace_back("raw.csv");
  if (ncu::is_range_replay(own.ncu_cli)) {
    plan.artifacts.insert(plan.artifacts.end(), {"regions/report.json", "regions/report.md"});
  }
  if (own.samples && is_built_in) {
    plan.limits.push_back(std::to_string(*own.samples) +
                          " of the sampled images (pipeline.ncu.samples)");
  }
  if (const auto bound = ncu::launch_bound(own)) {
    plan.limits.push_back("the first " + std::to_string(*bound) + " launches (" +
                          (own.ncu_cli.launch_count ? "pipeline.ncu.ncu_cli.launch_count"
                                                    : "pipeline.ncu.max_launches") +
                          ")");
  }
  plan.notes = internal::ncu_notes(context);
  return plan;
}

Result<void> NcuStage::run(const StageContext& context, pipeline::StageRun& run) const {
  const NcuFiles files(context.setup);
  PL_TRY(make_file(run, sections_command(context), files.sections()));
  PL_TRY(capture(context, run, false));
  if (gate_let_nothing_through(context)) {
    const ncu::Messages messages = internal::messages_of(files, false);
    run.tell({Severity::Warning, "nothing_profiled",
              "no " + messages.nothing_profiled +
                  " were profiled: " + internal::why_nothing(context, messages, true),
              "it is tried once more without the gate, " +
                  std::to_string(context.setup.settings.pipeline.ncu.rerun_launch_count) +
                  " launches at most"});
    PL_TRY(capture(context, run, true));
  }
  if (!files.has_report()) return {};
  if (context.setup.settings.pipeline.ncu.ncu_cli.export_files.csv) {
    PL_TRY(make_file(run, raw_csv_command(context), files.raw_csv()));
  }
  return make_file(run, details_command(context), files.sections_report());
}

std::vector<Finding> NcuStage::verify(const StageContext& context) const {
  return internal::check_capture(context);
}

Result<void> NcuStage::summarise(const StageContext& context, pipeline::StageRun& run) const {
  const NcuFiles files(context.setup);
  const bool keeps_csv = context.setup.settings.pipeline.ncu.ncu_cli.export_files.csv;
  const fs::path csv = keeps_csv ? files.raw_csv() : unfinished(files.raw_csv());
  if (!keeps_csv) PL_TRY(run.execute(raw_csv_command(context)));
  auto tables = internal::make_tables(context, csv);
  std::error_code ignored;
  if (!keeps_csv) fs::remove(csv, ignored);
  if (!tables) return std::move(tables).error();
  if (tables->kernels.kernels.empty()) {
    run.tell({Severity::Problem, "capture_empty", "the report holds no kernels",
              "its details: " + files.sections_report().string()});
  }
  PL_TRY(write_file_atomic(files.folder / "kernels.json", PL_TRY(to_document(tables->kernels))));
  PL_TRY(write_file_atomic(files.folder / "kernels.md", internal::kernels_page(tables->kernels)));
  if (!tables->regions) return {};
  return internal::write_regions(*tables->regions, files.regions());
}

}  // namespace profline::stages
