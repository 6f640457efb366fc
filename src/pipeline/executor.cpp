#include "pipeline/executor.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/atomic_file.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "pipeline/internal/live_stage_run.h"
#include "pipeline/resume.h"
#include "pipeline/workload_command.h"
#include "records/run_record.h"
#include "run/run_folder.h"

namespace profline::pipeline {
namespace {

using Activity = TimeAccount::Activity;

StageRecord entered(const PlannedStage& planned, const RunPlan& plan) {
  StageRecord record;
  record.name = planned.stage->id();
  record.state = planned.state;
  record.why = planned.why;
  record.findings = planned.findings;
  record.limits = planned.plan.limits;
  record.notes = planned.plan.notes;
  for (const ConfigChange& change : planned.plan.changes) {
    record.changes.push_back({change.key, change.value, change.why});
  }
  if (planned.is_on()) record.inputs_digest = inputs_digest(planned, plan);
  return record;
}

StepOutcome outcome_of(StageState state) {
  switch (state) {
    case StageState::Ok:
      return StepOutcome::Ok;
    case StageState::Skipped:
      return StepOutcome::Skipped;
    case StageState::Interrupted:
      return StepOutcome::Cancelled;
    default:
      return StepOutcome::Failed;
  }
}

/// What a step prints after its time.
std::string note_of(const StageRecord& record) {
  if (record.state == StageState::TimedOut) return "timeout";
  for (const Finding& finding : record.findings) {
    const bool is_why = record.state == StageState::Skipped || record.state == StageState::Failed;
    if (is_why && finding.severity == Severity::Problem) return finding.text;
  }
  const auto warnings =
      std::count_if(record.findings.begin(), record.findings.end(),
                    [](const Finding& finding) { return finding.severity == Severity::Warning; });
  if (warnings == 0) return {};
  return counted(static_cast<std::uint64_t>(warnings), "warning");
}

bool is_gone(const std::filesystem::path& folder) {
  std::error_code failure;
  return !std::filesystem::is_directory(folder, failure);
}

/// Runs all stages of one run.
class Execution {
 public:
  Execution(const RunPlan& plan, run::RunJournal& journal, const RunServices& services)
      : plan_(plan),
        journal_(journal),
        services_(services),
        account_(services.clock),
        files_(run::Run::with_record(plan.setup.folder, journal.record())) {}

  Result<void> run_stages();
  Result<ExitCode> finish(const WriteReports& write_reports);

 private:
  Result<void> report(const WriteReports& write_reports);
  Result<void> run_stage(const PlannedStage& planned, StageRecord& record);
  Result<void> prepare_folder(const PlannedStage& planned);
  void carry_out(const PlannedStage& planned, const StageRecord& record, LiveStageRun& run);
  Result<void> report_skipped(StageRecord& record);
  StageState state_after(const LiveStageRun& run) const;
  Result<void> keep_folder(const std::filesystem::path& folder, LiveStageRun& run);
  std::string now() const { return utc_timestamp(services_.clock.wall_now()); }

  const RunPlan& plan_;
  run::RunJournal& journal_;
  const RunServices& services_;
  TimeAccount account_;
  run::Run files_;  // caches what stages read, for the reports
  std::vector<KeptCapture> captures_;
};

Result<void> Execution::prepare_folder(const PlannedStage& planned) {
  PL_TRY(create_folders(plan_.setup.stage_folder(planned.stage->id())));
  if (planned.plan.changes.empty()) return {};
  return write_private_file(
      handed_config_file(plan_.setup, planned.stage->id(), planned.plan.changes),
      PL_TRY(handed_config(plan_.setup, planned.plan.changes)));
}

/// The finding for an interrupted stage: where it was interrupted, and which of its files exist.
/// What its captures lack then says nothing about the workload, so they are not judged unless they
/// already were.
Finding interrupted(const PlannedStage& planned, const StageRecord& record, const LiveStageRun& run,
                    const std::filesystem::path& folder, bool is_verified) {
  using End = LiveStageRun::CommandEnd;
  std::string text = "interrupted before its first command ran";
  if (run.last_end()) {
    const std::string& last = record.commands.back().name;
    text = run.last_end() == End::Cancelled  ? "interrupted during " + last
           : run.last_end() == End::NeverRan ? "interrupted before " + last + " started"
                                             : "interrupted after " + last;
  }
  std::vector<std::string> kept;
  for (const std::string& file : planned.plan.artifacts) {
    std::error_code failure;
    if (std::filesystem::exists(folder / file, failure)) kept.push_back(file);
  }
  text += kept.empty()  ? "; none of its files was there yet"
          : is_verified ? "; kept: " + join(kept, ", ")
                        : "; kept, and not verified: " + join(kept, ", ");
  return {Severity::Warning, "interrupted", std::move(text), "profline run --resume runs it again"};
}

/// Runs, verifies and summarises; anything that goes wrong is reported.
void Execution::carry_out(const PlannedStage& planned, const StageRecord& record,
                          LiveStageRun& run) {
  const Stage& stage = *planned.stage;
  const StageContext context = plan_.context();
  const auto report_error = [&](const Result<void>& done, const char* code) {
    if (done || done.error().kind() == ErrorKind::Cancelled) return;
    run.report({Severity::Problem, code, done.error().to_string()});
  };
  const auto report_if_interrupted = [&](bool is_verified) {
    if (!run.cancelled()) return false;
    run.report(
        interrupted(planned, record, run, plan_.setup.stage_folder(stage.id()), is_verified));
    return true;
  };
  const Result<void> ran = stage.run(context, planned.plan, run);
  if (is_gone(plan_.setup.stage_folder(stage.id()))) return;  // already reported
  report_error(ran, "stage_error");
  if (report_if_interrupted(false) || run.skipped()) return;
  const TimeAccount::Span reading(account_, Activity::Reading);
  for (Finding& finding : stage.verify(context, files_)) run.report(std::move(finding));
  if (run.has_problem()) return;
  report_error(stage.summarise(context, files_, run), "summary_error");
  report_if_interrupted(true);
}

/// A program may delete the stage's folder: then the stage has failed. If it deletes the run's
/// folder, the run ends.
Result<void> Execution::keep_folder(const std::filesystem::path& folder, LiveStageRun& run) {
  if (is_gone(plan_.setup.folder)) {
    return Error(ErrorKind::Io, "the folder of this run, '" + plan_.setup.folder.string() +
                                    "', was deleted while stage " + folder.filename().string() +
                                    " ran; nothing of the run is left to read or resume")
        .with_reason("run_folder_gone");
  }
  if (!is_gone(folder)) return {};
  run.report({Severity::Problem, "stage_folder_gone",
              "the folder of the stage, '" + folder.string() +
                  "', was deleted while it ran; what it had written is lost",
              "find out what in the program deletes it"});
  return create_folders(folder);
}

StageState Execution::state_after(const LiveStageRun& run) const {
  if (run.cancelled()) return StageState::Interrupted;
  if (run.timed_out()) return StageState::TimedOut;
  if (run.skipped() && !run.has_problem()) return StageState::Skipped;
  return run.has_problem() ? StageState::Failed : StageState::Ok;
}

Result<void> Execution::run_stage(const PlannedStage& planned, StageRecord& record) {
  Step step(services_.progress, record.name);
  const RunTiming before = account_.timing();
  record.state = StageState::Running;
  record.started = now();
  PL_TRY(prepare_folder(planned));  // the record is saved when the first child starts
  LiveStageRun run(services_, journal_, account_, record,
                   planned.stage->settings(plan_.setup.settings.pipeline).timeout);
  carry_out(planned, record, run);
  std::optional<Interrupt::OrderlyStop> ends_in_order;
  if (run.cancelled()) ends_in_order.emplace(services_.interrupt);
  const std::filesystem::path folder = plan_.setup.stage_folder(record.name);
  PL_TRY(keep_folder(folder, run));
  record.state = state_after(run);
  PL_TRY(run::remove_temporaries(folder,
                                 services_.clock));  // left by a child that was killed
  PL_TRY(write_inputs(journal_, plan_.setup, files_, record.name));
  {
    const TimeAccount::Span digesting(account_, Activity::Digesting);
    run::make_captures_private(folder);
    record.artifacts = PL_TRY(run::digest_files(folder, plan_.setup.folder));
  }
  for (KeptCapture& kept : run.take_captures()) captures_.push_back(std::move(kept));
  record.ended = now();
  record.timing = spent_since(before, account_.timing());
  // run.json is saved when the next child starts, or at the end: making it durable takes longer
  // than everything else between two children, and being killed in between only means running this
  // stage again.
  PL_TRY(journal_.defer_status(record));
  if (run.journal_error()) return *run.journal_error();
  step.end(outcome_of(record.state), note_of(record));
  return {};
}

Result<void> Execution::report_skipped(StageRecord& record) {
  Step step(services_.progress, record.name);
  PL_TRY(create_folders(plan_.setup.stage_folder(record.name)));
  PL_TRY(journal_.defer_status(record));
  step.end(StepOutcome::Skipped, note_of(record));
  return {};
}

Result<void> Execution::run_stages() {
  for (const PlannedStage& planned : plan_.stages) {
    std::vector<StageRecord>& stages = journal_.record().stages;
    const auto record = std::find_if(stages.begin(), stages.end(), [&](const StageRecord& stage) {
      return stage.name == planned.stage->id();
    });
    if (record->state == StageState::Skipped) PL_TRY(report_skipped(*record));
    if (record->state != StageState::Pending) continue;
    if (services_.interrupt.requested()) break;
    PL_TRY(run_stage(planned, *record));
    const bool is_bad = record->state != StageState::Ok && record->state != StageState::Skipped;
    if (record->state == StageState::Interrupted) break;
    if (is_bad && !plan_.setup.settings.pipeline.keep_going) break;
  }
  return {};
}

/// Writes the reports from the files of the run, some of which stages have just read.
Result<void> Execution::report(const WriteReports& write_reports) {
  files_.set_record(redacted(journal_.record(), journal_.redactor()));
  for (KeptCapture& kept : captures_) files_.keep_capture(kept.sqlite, std::move(kept.timeline));
  captures_.clear();
  return write_reports(files_);
}

Result<ExitCode> Execution::finish(const WriteReports& write_reports) {
  std::unique_ptr<Interrupt::OrderlyStop> ends_in_order;
  if (services_.interrupt.requested())
    ends_in_order = std::make_unique<Interrupt::OrderlyStop>(services_.interrupt);
  PL_TRY(journal_.write_deferred());
  RunRecord& record = journal_.record();
  const auto any = [&](StageState state) {
    return std::any_of(record.stages.begin(), record.stages.end(),
                       [&](const StageRecord& stage) { return stage.state == state; });
  };
  const bool left_out = services_.interrupt.requested() && any(StageState::Pending);
  const bool is_interrupted = left_out || any(StageState::Interrupted);
  const bool is_failed = any(StageState::Failed) || any(StageState::TimedOut);
  record.state = is_interrupted ? RunState::Interrupted
                 : is_failed    ? RunState::Failed
                                : RunState::Ok;
  record.timing = account_.timing();
  if (!is_interrupted && write_reports) {
    PL_TRY(journal_.save());
    ends_in_order.reset();  // an interrupt need not wait for the reports of a large run
    const TimeAccount::Span reporting(account_, Activity::Reporting);
    const auto written = report(write_reports);
    if (!written) {
      record.findings.push_back({Severity::Problem, "report_error", written.error().to_string()});
      services_.progress.error("report: " + written.error().to_string());
      record.state = RunState::Failed;
    }
  }
  ends_in_order = std::make_unique<Interrupt::OrderlyStop>(
      services_.interrupt);  // from here on an interrupt changes nothing
  const ExitCode code = record.state == RunState::Ok       ? ExitCode::Done
                        : record.state == RunState::Failed ? ExitCode::Failed
                                                           : ExitCode::Interrupted;
  {
    const TimeAccount::Span digesting(account_, Activity::Digesting);
    record.artifacts = PL_TRY(run::digest_run_files(plan_.setup.folder));
  }
  record.timing = account_.timing();
  record.exit_code = static_cast<int>(code);
  record.ended = now();
  PL_TRY(journal_.save());
  services_.log.info("run " + std::string(to_text(record.state)));
  return code;
}

/// Records why the run cannot continue, as far as a full disk permits.
Error given_up(run::RunJournal& journal, const RunServices& services, Error why) {
  RunRecord& record = journal.record();
  record.state = RunState::Failed;
  record.exit_code = static_cast<int>(exit_code(why.kind()));
  record.ended = utc_timestamp(services.clock.wall_now());
  record.findings.push_back({Severity::Problem, "run_error", why.to_string()});
  static_cast<void>(journal.save());
  static_cast<void>(journal.write_deferred());
  return why;
}

}  // namespace

void enter_stages(const RunPlan& plan, RunRecord& record) {
  for (const PlannedStage& planned : plan.stages) {
    record.stages.push_back(entered(planned, plan));
  }
}

Result<ExitCode> execute(const RunPlan& plan, run::RunJournal& journal, const RunServices& services,
                         const WriteReports& write_reports) {
  Execution execution(plan, journal, services);
  auto run = execution.run_stages();
  if (!run) return given_up(journal, services, std::move(run).error());
  auto finished = execution.finish(write_reports);
  if (!finished) return given_up(journal, services, std::move(finished).error());
  return finished;
}

}  // namespace profline::pipeline
