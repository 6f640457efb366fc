#include "run_session.h"

#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "base/strings.h"
#include "base/unfinished_work.h"
#include "every_report.h"
#include "formats/json_write.h"
#include "formats/node_redaction.h"
#include "pipeline/environment.h"
#include "pipeline/executor.h"
#include "pipeline/machine.h"
#include "pipeline/resume.h"
#include "pipeline/run_files.h"
#include "process/find_program.h"
#include "profline_version.h"
#include "run_config_files.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::Severity;

std::unique_ptr<Progress> progress_for(const Invocation& invocation, const Clock& clock) {
  constexpr std::size_t kLongestStage = 16;
  const int verbosity = invocation.output.verbosity;
  ProgressOptions options;
  options.verbosity = verbosity < 0   ? Verbosity::Quiet
                      : verbosity > 0 ? Verbosity::Verbose
                                      : Verbosity::Normal;
  const auto color = invocation.arguments.value("--color");
  if (color == "always") options.color = ColorMode::Always;
  if (color == "never") options.color = ColorMode::Never;
  options.name_width = kLongestStage + 2;
  return make_progress(options, STDERR_FILENO, clock);
}

/// What the preflights found and what does not keep the run from starting.
void tell_findings(const pipeline::RunPlan& plan, Progress& progress) {
  const auto tell = [&](const std::string& subject, const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      std::string text = subject + finding.text;
      if (!finding.fix.empty()) text += "; " + finding.fix;
      if (finding.severity == Severity::Warning) progress.warning(text);
      if (finding.severity == Severity::Note) progress.detail(text);
    }
  };
  tell("", plan.findings);
  for (const pipeline::PlannedStage& stage : plan.stages) {
    if (stage.is_on()) tell(std::string(stage.stage->id()) + ": ", stage.findings);
  }
}

RunRecord new_record(const PreparedRun& run, const RunWish& wish, const Invocation& invocation,
                     const Clock& clock) {
  const pipeline::RunSetup& setup = run.plan.setup;
  RunRecord record;
  record.id = setup.id;
  record.started = utc_timestamp(clock.wall_now());
  record.command_line.argv = invocation.argv;
  record.command_line.cwd = setup.cwd.string();
  record.command_line.config_name = wish.choice.name;
  record.command_line.config_path = wish.choice.path;
  record.command_line.config_dir = wish.choice.dir;
  return record;
}

/// What is true of this attempt at the run.
void fill_in(const PreparedRun& run, RunRecord& record) {
  const pipeline::RunSetup& setup = run.plan.setup;
  record.experiment = setup.settings.experiment;
  record.state = RunState::Running;
  record.exit_code.reset();
  record.ended.clear();
  record.version = kVersion;
  record.commit = kCommit;
  record.device = setup.settings.device.to_string();
  record.host = pipeline::host_name();
  record.boot_id = pipeline::boot_id();
  record.process = pipeline::own_process();
  record.command_line.overrides = run.overrides;
  record.tools = pipeline::remembered_tools(run.plan.tools, std::move(record.tools));
  record.sampling_seed = setup.sampling_seed;
  record.findings = run.plan.findings;
}

Result<void> write_environment(const PreparedRun& run, ProcessRunner& processes) {
  Environment environment = pipeline::look_around(run.plan.tools, processes);
  std::error_code failure;
  environment.profline =
      ProgramFacts{fs::read_symlink("/proc/self/exe", failure).string(), kVersion};
  environment.commit = kCommit;
  const Node document = redacted(pipeline::to_node(environment), run.plan.setup.redactor);
  return write_file_atomic(run.plan.setup.folder / "env.json", PL_TRY(write_json(document)));
}

/// A run's files until run.json is among them: a command that fails or is interrupted before leaves
/// nothing in a folder of its own.
class StartingRun {
 public:
  explicit StartingRun(const pipeline::RunFolder& folder) {
    if (!folder.is_new()) return;
    path_ = folder.path();
    unfinished_ = UnfinishedWork([path = path_] { remove(path); });
  }
  ~StartingRun() {
    if (!path_.empty()) remove(path_);
  }
  StartingRun(const StartingRun&) = delete;
  StartingRun& operator=(const StartingRun&) = delete;

  void started() {
    path_.clear();
    unfinished_.finish();
  }

 private:
  static void remove(const fs::path& path) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }

  fs::path path_;  // empty: nothing is to be removed
  UnfinishedWork unfinished_;
};

/// Runs the stages that the record has as Pending, with the run's own files written first.
Result<FinishedRun> carry_out(PreparedRun& run, RunRecord record, const Services& services,
                              const Clock& clock, Progress& progress) {
  const fs::path folder = run.plan.setup.folder;
  pipeline::clear_unfinished_starts(folder, !run.folder_was_named, clock);
  StartingRun starting(*run.folder);
  PL_TRY(write_config_files(*run.configuration, run.plan.setup));
  const LogLevel least = run.plan.setup.verbosity > 0 ? LogLevel::Debug : LogLevel::Info;
  const Redactor& redactor = run.plan.setup.redactor;
  const Log log = PL_TRY(Log::open(folder / "run.log", least, clock, redactor));
  log.info("profline " + std::string(kVersion) + " (" + kCommit + ")");
  log.info("overrides: " + join(redactor.words(run.overrides), " "));
  log.info("PATH: " + own_path());
  PL_TRY(write_environment(run, services.processes));
  pipeline::RunJournal journal(folder, std::move(record), redactor);
  PL_TRY(journal.save());
  starting.started();
  run.folder->keep();
  if (!run.folder_was_named) {
    if (auto told = pipeline::point_latest_at(folder)) {
      journal.record().findings.push_back(std::move(*told));
    }
  }
  const pipeline::RunServices world{services.processes, services.interrupt, progress, log, clock};
  std::string verdict;
  const auto write_reports = [&](const fs::path& at) -> Result<void> {
    verdict = PL_TRY(write_every_report(at)).verdict;
    return {};
  };
  const ExitCode code = PL_TRY(pipeline::execute(run.plan, journal, world, write_reports));
  return FinishedRun{folder, code, journal.record(), std::move(verdict)};
}

}  // namespace

Result<FinishedRun> start_run(PreparedRun& run, const RunWish& wish, const Services& services,
                              const Invocation& invocation) {
  const SystemClock clock;
  const auto progress = progress_for(invocation, clock);
  tell_findings(run.plan, *progress);
  if (auto obstacle = run.plan.obstacle()) return std::move(*obstacle);
  RunRecord record = new_record(run, wish, invocation, clock);
  fill_in(run, record);
  pipeline::enter_stages(run.plan, record);
  return carry_out(run, std::move(record), services, clock, *progress);
}

Result<FinishedRun> resume_run(RunWish wish, const Services& services,
                               const Invocation& invocation) {
  const SystemClock clock;
  const auto progress = progress_for(invocation, clock);
  // Waits for what its guardians still end, so the record is read again under the lock.
  RunRecord record = PL_TRY(read_run_record(*wish.resume));
  const CommandLineRecord& given = record.command_line;
  wish.choice = {given.config_path, given.config_dir, given.config_name,
                 PL_TRY(pipeline::resumed_overrides(given.overrides, wish.choice.overrides)),
                 fs::path(given.cwd)};
  wish.sampling_seed = record.sampling_seed;
  wish.programs.remembered = record.tools;
  PreparedRun run = PL_TRY(prepare_run(wish, Making::Folder, services, invocation.output));
  record = PL_TRY(read_run_record(*wish.resume));
  for (const std::string& told :
       pipeline::end_leftovers(record, run.plan.tools, services.processes)) {
    progress->message(told);
  }
  tell_findings(run.plan, *progress);
  if (auto obstacle = run.plan.obstacle()) return std::move(*obstacle);
  if (auto lost = pipeline::lost_stages(run.plan, record)) return std::move(*lost);
  PL_TRY(pipeline::remove_temporaries(run.plan.setup.folder, clock));
  const std::vector<std::string> changed = pipeline::changed_inputs(run.plan.setup.folder);
  if (!changed.empty()) progress->message("inputs changed: " + join(changed, ", "));
  const auto decisions = pipeline::decide_resume(run.plan, record, !changed.empty());
  for (const pipeline::ResumeDecision& decision : decisions) {
    if (decision.runs) progress->message(decision.stage + " runs: " + decision.why);
    if (!decision.runs) progress->detail(decision.stage + " is left as it is: " + decision.why);
  }
  if (std::none_of(decisions.begin(), decisions.end(),
                   [](const auto& each) { return each.runs; })) {
    progress->message(pipeline::nothing_to_run(run.plan));
  }
  PL_TRY(pipeline::enter_resumed(run.plan, decisions, record));
  fill_in(run, record);
  record.resumed.push_back(utc_timestamp(clock.wall_now()));
  return carry_out(run, std::move(record), services, clock, *progress);
}

}  // namespace profline
