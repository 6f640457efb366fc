#include "stages/ncu/ncu_stage.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/figures.h"
#include "base/files.h"
#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "records/counter_plan.h"
#include "run/names/artifact_names.h"
#include "run/run_folder.h"
#include "stages/ncu/internal/captures.h"
#include "stages/ncu/internal/counter_plan.h"
#include "stages/program_gate/program_gate.h"
#include "tools/ncu/probe.h"
#include "tools/ncu/profile_command.h"

namespace profline::stages {
namespace {

namespace fs = std::filesystem;
using internal::Attempt;
using internal::NcuFiles;
using pipeline::Finding;
using pipeline::PlannedCommand;
using pipeline::Severity;
using pipeline::StageContext;

/// What changes for the built-in workload; a user's program gets no changes.
std::vector<pipeline::ConfigChange> changes_of(const pipeline::RunSetup& setup) {
  if (setup.settings.pipeline.workload.user_command()) return {};
  return pipeline::changes_under_profiler(setup.config);
}

pipeline::ProfiledRequests requests_of(const pipeline::RunSetup& setup) {
  return pipeline::profiled_requests(setup.settings, setup.settings.pipeline.ncu.samples);
}

std::size_t group_count(const StageContext& context) {
  return ncu::gate_groups(context.setup.settings.pipeline.ncu).size();
}

std::string name_of(const Attempt& attempt) {
  if (attempt.without_gate) return "rerun";
  const std::string what = attempt.gate == CaptureGate::Requests ? "capture requests"
                           : attempt.gate == CaptureGate::Ranges ? "capture ranges"
                                                                 : "capture";
  return attempt.group == 0 ? what : what + attempt.suffix();
}

/// Whether the user chose the ranges that limit the capture.
bool names_ranges(const pipeline::RunSetup& setup) {
  const Node* include = setup.config.find_path("pipeline.ncu.ncu_cli.nvtx.include");
  return include != nullptr && !include->position().source.starts_with("<profline>");
}

/// Whether ncu can pick requests by their NVTX ranges. Ranges are replayed by their own names.
bool can_pick_ranges(const StageContext& context) {
  return internal::ncu_of(context.tools).takes("--range-filter") && !names_ranges(context.setup) &&
         !ncu::is_range_replay(context.setup.settings.pipeline.ncu.ncu_cli);
}

/// How the baseline's requests may decide which ones of a program are profiled; empty: they do not.
std::vector<CaptureGate> gates_of(const StageContext& context) {
  const bool is_open =
      follows_baseline(context.setup) && context.setup.settings.pipeline.ncu.gating_nvtx;
  std::vector<CaptureGate> gates;
  if (is_open && uses_adapter(context)) gates.push_back(CaptureGate::Requests);
  if (is_open && can_pick_ranges(context)) gates.push_back(CaptureGate::Ranges);
  return gates;
}

bool takes_baselines_gate(const StageContext& context) {
  return !gates_of(context).empty();
}

/// The instances of the range around requests that a capture takes, counted from 1.
std::vector<std::uint64_t> instances_of(const ProgramGate& gate) {
  std::vector<std::uint64_t> instances;
  for (std::uint64_t i = 0; i < gate.count; ++i) instances.push_back(gate.first + i + 1);
  return instances;
}

/// What the plan shows before the baseline ran: not the first request, which is never warm.
const ProgramGate kPlannedRanges{.gate = CaptureGate::Ranges, .first = 1, .count = 3};

PlannedCommand capture_command(const StageContext& context, const Attempt& attempt) {
  const pipeline::RunSetup& setup = context.setup;
  const settings::Ncu& own = setup.settings.pipeline.ncu;
  const NcuFiles files(setup);
  const auto changes = changes_of(setup);
  program::ProgramRun program;
  if (attempt.gate == CaptureGate::Requests) program = gated_run(setup, program::GateKind::Cuda);
  const Command workload =
      workload_command(context, {.stage = run::stages::kNcu,
                                 .mode = "profiled",
                                 .config = handed_config_file(setup, run::stages::kNcu, changes),
                                 .out = files.workload(attempt),
                                 .samples = requests_of(setup).count,
                                 .program = program});
  ncu::Capture capture{.output = files.output(attempt.group), .log = files.log(attempt)};
  capture.waits_for_program = attempt.gate == CaptureGate::Requests;
  if (attempt.without_gate) capture.without_gate = own.rerun_launch_count;
  capture.ranges = ncu::gate_groups(own).at(attempt.group);
  if (attempt.gate == CaptureGate::Ranges) {
    capture.ranges = ncu::translate_ranges({{setup.settings.pipeline.workload.request_range}});
    capture.instances = instances_of(kPlannedRanges);
  }
  PlannedCommand planned{name_of(attempt), ncu::profile_command(internal::ncu_of(context.tools),
                                                                own, capture, workload)};
  if (attempt.without_gate) {
    planned.condition = ncu::gate(own).empty()
                            ? "if nothing was profiled"
                            : "if nothing is launched inside " + internal::ranges_text(own);
    if (internal::chooses_launches(own)) planned.condition += ", and no phase is known";
  } else if (attempt.group > 0) {
    planned.condition = "if the ranges around these were captured";
  } else if (takes_baselines_gate(context)) {
    planned.condition =
        attempt.gate == CaptureGate::Everything ? "otherwise" : condition_of(attempt.gate, setup);
  }
  return planned;
}

constexpr std::string_view kListSections = "list_sections";

bool keeps_csv(const StageContext& context) {
  return context.setup.settings.pipeline.ncu.ncu_cli.export_files.csv;
}

std::string raw_csv_name(std::size_t group) {
  return "raw_csv" + Attempt{group}.suffix();
}

std::string details_name(std::size_t group) {
  return "sections_report" + Attempt{group}.suffix();
}

PlannedCommand sections_command(const StageContext& context) {
  return {std::string(kListSections),
          ncu::list_sections_command(internal::ncu_of(context.tools),
                                     run::unfinished(NcuFiles(context.setup).sections()))};
}

PlannedCommand raw_csv_command(const StageContext& context, std::size_t group) {
  const NcuFiles files(context.setup);
  return {raw_csv_name(group),
          ncu::raw_csv_command(internal::ncu_of(context.tools), files.report(group),
                               run::unfinished(files.raw_csv(group))),
          keeps_csv(context) ? "if there is a report" : "if there is a report; read, then deleted"};
}

PlannedCommand details_command(const StageContext& context, std::size_t group) {
  const NcuFiles files(context.setup);
  return {details_name(group),
          ncu::details_command(internal::ncu_of(context.tools), files.report(group),
                               run::unfinished(files.sections_report(group))),
          "if there is a report"};
}

/// Deletes the tables that are only an intermediate step.
void drop_csvs(const StageContext& context) {
  if (keeps_csv(context)) return;
  const NcuFiles files(context.setup);
  std::error_code ignored;
  for (std::size_t group = 0; group < group_count(context); ++group) {
    fs::remove(files.raw_csv(group), ignored);
  }
}

/// Runs the command that writes one file, and moves the file into place if it succeeded. Returns
/// how long that took.
Result<std::chrono::nanoseconds> make_file(pipeline::StageRun& run, const PlannedCommand& planned,
                                           const fs::path& file) {
  const Exit exit = PL_TRY(run.execute(planned));
  const fs::path made = run::unfinished(file);
  std::error_code failure;
  if (exit.succeeded()) {
    fs::rename(made, file, failure);
    return exit.wall;
  }
  fs::remove(made, failure);
  if (exit.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  run.report(
      {Severity::Warning, "import_failed",
       planned.name + " (ncu) " + exit.describe() + ", so there is no " + file.filename().string(),
       exit.tail.empty() ? "" : "it said: " + exit.tail});
  return exit.wall;
}

/// Everything that is read from the reports.
Result<std::chrono::nanoseconds> make_files(const StageContext& context,
                                            const pipeline::StagePlan& plan,
                                            pipeline::StageRun& run) {
  const NcuFiles files(context.setup);
  std::chrono::nanoseconds time{0};
  for (std::size_t group = 0; group < group_count(context); ++group) {
    if (!files.has_report(group)) continue;
    time += PL_TRY(make_file(run, plan.command(raw_csv_name(group)), files.raw_csv(group)));
    time += PL_TRY(make_file(run, plan.command(details_name(group)), files.sections_report(group)));
  }
  return time;
}

/// One attempt; returns how long it took.
Result<std::chrono::nanoseconds> capture(const StageContext& context,
                                         const pipeline::StagePlan& plan, pipeline::StageRun& run,
                                         const Attempt& attempt) {
  const NcuFiles files(context.setup);
  PL_TRY(create_folders(files.workload(attempt)));
  const PlannedCommand& planned = plan.command(name_of(attempt));
  PL_TRY(run::write_command_file(files.command(attempt), planned.command, context.setup.redactor));
  const Exit exit = PL_TRY(run.execute(planned));
  if (exit.why == Exit::Why::Cancelled) return Error(ErrorKind::Cancelled, "interrupted");
  if (auto finding = internal::capture_end(context, planned, exit, attempt)) {
    run.report(std::move(*finding));
  }
  return exit.wall;
}

/// The plan with the requests that the baseline chose, now that it has run.
pipeline::StagePlan with_instances(pipeline::StagePlan plan, const ProgramGate& gate) {
  if (gate.gate != CaptureGate::Ranges) return plan;
  for (PlannedCommand& planned : plan.commands) {
    std::vector<std::string>& argv = planned.command.argv;
    std::replace(argv.begin(), argv.end(), ncu::range_filter(instances_of(kPlannedRanges)),
                 ncu::range_filter(instances_of(gate)));
  }
  return plan;
}

/// Why ncu begins with the first request of a program whose requests are NVTX ranges.
std::string why_cold(const StageContext& context) {
  if (names_ranges(context.setup)) {
    return "pipeline.ncu.ncu_cli.nvtx.include names ranges, and ncu takes them from the first "
           "request on";
  }
  if (ncu::is_range_replay(context.setup.settings.pipeline.ncu.ncu_cli)) {
    return "with range replay, ncu takes the ranges from the first request on";
  }
  return "this ncu has no --range-filter (newer releases have it), so it takes requests from the "
         "first one on";
}

void report_cold_start(const StageContext& context, pipeline::StageRun& run) {
  run.report({Severity::Note, "cold_requests",
              "kernels of the first request are among those profiled: " + why_cold(context),
              "pipeline.ncu.ncu_cli.launch_skip=N leaves out the first N launches"});
}

/// Whether an attempt without the gate is worth its time.
bool gate_let_nothing_through(const StageContext& context, CaptureGate gate) {
  const NcuFiles files(context.setup);
  const bool is_gated =
      gate != CaptureGate::Everything || !ncu::gate(context.setup.settings.pipeline.ncu).empty();
  if (files.has_report() || !is_gated) return false;
  const ncu::Messages messages = internal::messages_of(files, Attempt{});
  return !messages.nothing_profiled.empty() && !messages.no_libcuda && !messages.counters_denied &&
         !messages.application_code;
}

/// Replays the ranges nested in those of the first attempt, or makes the attempt without a gate if
/// the first replayed nothing.
Result<std::chrono::nanoseconds> capture_more(const StageContext& context,
                                              const pipeline::StagePlan& plan,
                                              pipeline::StageRun& run, CaptureGate gate,
                                              bool may_drop_gate) {
  const NcuFiles files(context.setup);
  if (may_drop_gate && gate_let_nothing_through(context, gate)) {
    const ncu::Messages messages = internal::messages_of(files, Attempt{});
    std::string why = internal::why_nothing(context, messages, true);
    const std::string adapter =
        gate == CaptureGate::Requests ? adapter_problem(context.setup, files.workload({})) : "";
    if (!adapter.empty()) why = adapter;
    run.report({Severity::Warning, "nothing_profiled",
                "no " + messages.nothing_profiled + " were profiled: " + why,
                "ncu runs once more without the ranges and profiles " +
                    internal::launch_limit(context.setup.settings.pipeline.ncu, true)->text});
    return capture(context, plan, run, {.without_gate = true});
  }
  std::chrono::nanoseconds time{0};
  for (std::size_t group = 1; group < group_count(context) && files.has_report(); ++group) {
    time += PL_TRY(capture(context, plan, run, {.group = group, .gate = gate}));
  }
  return time;
}

/// The plan with the launches that were chosen, now that the kernels are known.
pipeline::StagePlan with_chosen_launches(const StageContext& context, pipeline::StagePlan plan,
                                         const CounterPlan& counters, CaptureGate gate) {
  pipeline::RunSetup setup = context.setup;
  setup.settings.pipeline.ncu = internal::with_plan(setup.settings.pipeline.ncu, counters);
  const Attempt attempt{.gate = gate};
  const std::string name = name_of(attempt);
  for (PlannedCommand& planned : plan.commands) {
    if (planned.name != name) continue;
    planned = capture_command({setup, context.tools}, attempt);
    if (!counters.limit_s) continue;
    planned.command.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double>(*counters.limit_s));
  }
  return plan;
}

Result<void> write_plan(const NcuFiles& files, const CounterPlan& counters) {
  return write_file_atomic(files.folder / run::files::kCounterPlan, PL_TRY(to_document(counters)));
}

std::optional<CounterPlan> read_plan(const NcuFiles& files) {
  const fs::path file = files.folder / run::files::kCounterPlan;
  const auto text = read_file(file);
  if (!text) return std::nullopt;
  auto counters = from_document<CounterPlan>(*text, file.string());
  return counters ? std::optional(std::move(*counters)) : std::nullopt;
}

/// Findings about the capture, which was made with the chosen launches.
std::vector<Finding> check(const StageContext& context) {
  pipeline::RunSetup setup = context.setup;
  const NcuFiles files(setup);
  const auto counters = files.has_report() ? std::nullopt : read_plan(files);
  if (counters) {
    setup.settings.pipeline.ncu = internal::with_plan(setup.settings.pipeline.ncu, *counters);
  }
  return internal::check_capture({setup, context.tools});
}

/// Reports what came of the choice of launches.
Result<void> report_outcome(const StageContext& context, pipeline::StageRun& run,
                            const NcuKernels& kernels) {
  const NcuFiles files(context.setup);
  auto counters = read_plan(files);
  if (!counters || kernels.gate_dropped) return {};
  internal::add_outcome(context, kernels, *counters);
  run.report({Severity::Note, "counter_outcome", internal::outcome_words(*counters)});
  return write_plan(files, *counters);
}

/// Reports which launches the table covers if that is fewer than requested.
void report_coverage(const StageContext& context, pipeline::StageRun& run, NcuKernels& kernels) {
  if (kernels.gate_dropped) {
    const settings::Ncu& own = context.setup.settings.pipeline.ncu;
    kernels.notes.push_back("the capture covers " + internal::launch_limit(own, true)->text);
  } else if (auto bounded = internal::bound_reached(context, kernels)) {
    kernels.notes.push_back(bounded->text);
    run.report(std::move(*bounded));
  }
}

bool uses(const std::vector<CaptureGate>& gates, CaptureGate gate) {
  return std::find(gates.begin(), gates.end(), gate) != gates.end();
}

std::vector<PlannedCommand> planned_commands(const StageContext& context) {
  const settings::Ncu& own = context.setup.settings.pipeline.ncu;
  const std::size_t groups = group_count(context);
  std::vector<PlannedCommand> commands = {sections_command(context)};
  const std::vector<CaptureGate> gates = gates_of(context);
  for (const CaptureGate gate : gates) {
    commands.push_back(capture_command(context, {.gate = gate}));
  }
  commands.push_back(capture_command(context, {}));
  if (!gates.empty() || !ncu::gate(own).empty()) {
    commands.push_back(capture_command(context, {.without_gate = true}));
  }
  for (std::size_t group = 1; group < groups; ++group) {
    if (uses(gates, CaptureGate::Requests)) {
      commands.push_back(capture_command(context, {.group = group, .gate = CaptureGate::Requests}));
    }
    commands.push_back(capture_command(context, {.group = group}));
  }
  for (std::size_t group = 0; group < groups; ++group) {
    commands.push_back(raw_csv_command(context, group));
    commands.push_back(details_command(context, group));
  }
  return commands;
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
  plan.commands = planned_commands(context);
  plan.artifacts = {run::files::kSections,    run::files::kCommand,        run::files::kNcuLog,
                    run::files::kNcuReport,   run::files::kSectionsReport, run::files::kKernels,
                    run::files::kKernelsPage, run::paths::kWorkloadLog};
  if (is_built_in) plan.artifacts.emplace_back(run::paths::kWorkloadRequests);
  if (takes_baselines_gate(context)) plan.artifacts.emplace_back(run::files::kGate);
  if (keeps_csv(context)) plan.artifacts.emplace_back(run::files::kNcuTable);
  if (internal::chooses_launches(own)) {
    plan.artifacts.emplace_back(run::files::kCounterPlan);
    plan.notes.push_back(internal::budget_note(own));
  }
  for (std::size_t group = 1; group < group_count(context); ++group) {
    plan.artifacts.push_back(NcuFiles(context.setup).report(group).filename().string());
  }
  if (ncu::is_range_replay(own.ncu_cli)) {
    plan.artifacts.insert(plan.artifacts.end(),
                          {run::paths::kNcuRegions, run::paths::kNcuRegionsPage});
  }
  pipeline::add_requests(requests_of(context.setup), id(), context.setup.settings, plan);
  if (const auto limit = internal::launch_limit(own, false)) plan.limits.push_back(limit->text);
  for (std::string& note : internal::ncu_notes(context)) plan.notes.push_back(std::move(note));
  const std::vector<CaptureGate> gates = gates_of(context);
  if (uses(gates, CaptureGate::Ranges)) {
    plan.notes.push_back("capture ranges: the baseline's steady requests take the place of 2|3|4");
  } else if (follows_baseline(context.setup) && own.gating_nvtx) {
    plan.notes.push_back("requests that are NVTX ranges: " + why_cold(context));
  }
  return plan;
}

Result<void> NcuStage::run(const StageContext& context, const pipeline::StagePlan& plan,
                           pipeline::StageRun& run) const {
  const NcuFiles files(context.setup);
  PL_TRY(make_file(run, plan.command(kListSections), files.sections()));
  const std::vector<CaptureGate> gates = gates_of(context);
  ProgramGate gate = gates.empty() ? ProgramGate{.why = "the settings"} : choose_gate(context);
  if (gate.gate == CaptureGate::Ranges && !uses(gates, gate.gate)) report_cold_start(context, run);
  if (!uses(gates, gate.gate)) gate.gate = CaptureGate::Everything;
  if (!gates.empty()) PL_TRY(write_gate(files.folder, gate));
  pipeline::StagePlan chosen = plan;
  std::optional<CounterPlan> counters;
  if (internal::chooses_launches(context.setup.settings.pipeline.ncu)) {
    counters = internal::plan_counters(context, names_ranges(context.setup),
                                       gate.gate == CaptureGate::Ranges);
    chosen = with_chosen_launches(context, std::move(chosen), *counters, gate.gate);
    run.report({Severity::Note, "counter_plan", internal::plan_words(*counters)});
  }
  chosen = with_instances(std::move(chosen), gate);
  std::chrono::nanoseconds time = PL_TRY(capture(context, chosen, run, {.gate = gate.gate}));
  const bool may_drop_gate = !counters || internal::may_drop_gate(context, *counters);
  time += PL_TRY(capture_more(context, chosen, run, gate.gate, may_drop_gate));
  if (is_program(context.setup)) {
    const Attempt last{.without_gate = files.was_rerun()};
    ProfiledPart part;
    if (gate.gate == CaptureGate::Ranges && !last.without_gate) {
      part.captured = {gate.first, gate.count};
    }
    PL_TRY(write_profiled_requests(context.setup, files.workload(last), files.workload({}), part));
  }
  const auto made = make_files(context, plan, run);
  // Nothing will read them then.
  if (!made || run.has_problem()) drop_csvs(context);
  if (!made) return made.error();
  if (!counters) return {};
  counters->seconds = std::chrono::duration<double>(time + *made).count();
  return write_plan(files, *counters);
}

std::vector<Finding> NcuStage::verify(const StageContext& context,
                                      const run::Run& /*files*/) const {
  std::vector<Finding> findings = check(context);
  const bool has_problem =
      std::any_of(findings.begin(), findings.end(),
                  [](const Finding& finding) { return finding.severity == Severity::Problem; });
  if (has_problem) drop_csvs(context);
  return findings;
}

Result<void> NcuStage::summarise(const StageContext& context, const run::Run& /*files*/,
                                 pipeline::StageRun& run) const {
  const NcuFiles files(context.setup);
  std::vector<fs::path> csvs;
  for (std::size_t group = 0; group < group_count(context); ++group) {
    if (files.has_report(group)) csvs.push_back(files.raw_csv(group));
  }
  auto tables = internal::make_tables(context, csvs);
  drop_csvs(context);
  if (!tables) return std::move(tables).error();
  report_coverage(context, run, tables->kernels);
  PL_TRY(report_outcome(context, run, tables->kernels));
  if (tables->kernels.kernels.empty()) {
    run.report({Severity::Problem, "capture_empty", "the report holds no kernels",
                "its details: " + files.sections_report().string()});
  }
  PL_TRY(
      write_file_atomic(files.folder / run::files::kKernels, PL_TRY(to_document(tables->kernels))));
  PL_TRY(write_file_atomic(files.folder / run::files::kKernelsPage,
                           internal::kernels_page(tables->kernels)));
  if (!tables->regions) return {};
  for (Finding& finding : internal::ranges_not_replayed(context, *tables->regions)) {
    run.report(std::move(finding));
  }
  return internal::write_regions(*tables->regions, files.regions());
}

}  // namespace profline::stages
