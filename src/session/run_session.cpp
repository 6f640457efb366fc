#include "session/run_session.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/atomic_file.h"
#include "base/files.h"
#include "base/source_commit.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/node.h"
#include "formats/yaml.h"
#include "pipeline/environment.h"
#include "pipeline/executor.h"
#include "pipeline/resume.h"
#include "pipeline/workload_command.h"
#include "process/runner.h"
#include "profline_version.h"
#include "records/ceilings.h"
#include "records/document.h"
#include "records/run_record.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "run/run_folder.h"
#include "schema/read.h"
#include "session/config_keys.h"
#include "summary/summarise.h"
#include "web/write_page.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using pipeline::Finding;
using pipeline::Severity;

constexpr JsonStyle kLenient{.bytes_as_base64 = true, .scalar_keys_as_text = true};

Node origin_node(const config::Origin& origin, const Redactor& redactor) {
  NodeMap entry;
  set_position(origin.position, entry);
  const std::string config = origin.is_override ? redactor.word("", origin.config) : origin.config;
  entry.set("config", Node::string(config));
  entry.set("is_override", Node::boolean(origin.is_override));
  return Node::map(std::move(entry));
}

/// For every leaf of the config, by full key: the place that set it.
Node origins_document(const config::Composition& composition, const Redactor& redactor) {
  NodeMap keys;
  for_each_key(composition.config, [&](const std::string& key, const Node& value) {
    if (value.is_map() && !value.as_map().empty()) return;
    const std::vector<config::Origin> history = composition.origins.history(key);
    keys.set(key, history.empty() ? Node() : origin_node(history.back(), redactor));
  });
  NodeMap document;
  document.set("schema", Node::string("profline.config_origins/1"));
  document.set("origins", Node::map(std::move(keys)));
  return Node::map(std::move(document));
}

/// YAML with a leading comment if something was redacted.
std::string yaml_text(const Node& whole, const Redactor& redactor) {
  const Node shown = redacted(whole, redactor);
  const std::string text = write_yaml(shown);
  if (whole == shown) return text;
  return "# Values that look like secrets were replaced by " + std::string(kRedacted) + ".\n" +
         text;
}

/// The files that Hydra writes to hydra.output_subdir. If that is the run's folder itself, two of
/// them already exist.
Result<void> write_hydra_files(const Configuration& configuration, const pipeline::RunSetup& setup,
                               const std::filesystem::path& subdir) {
  const Node& root = configuration.composition().root;
  const std::filesystem::path folder = setup.folder / subdir;
  PL_TRY(create_folders(folder));
  NodeMap hydra;
  hydra.set("hydra", *root.find("hydra"));
  PL_TRY(write_private_file(folder / run::files::kHydra,
                            yaml_text(Node::map(std::move(hydra)), setup.redactor)));
  if (subdir == ".") return {};
  PL_TRY(write_private_file(folder / run::files::kConfig,
                            yaml_text(configuration.composition().config, setup.redactor)));
  const Node* task = root.find_path("hydra.overrides.task");
  return write_private_file(folder / run::files::kOverrides,
                            yaml_text(task == nullptr ? Node::list() : *task, setup.redactor));
}

/// Writes into the run's folder: the config as composed (config.yaml), the user's changes
/// (overrides.yaml), what every process of the run gets (config.resolved.json), and the origin of
/// each value (config.origins.json). If hydra.output_subdir names a folder, also what Hydra writes
/// there: config.yaml, hydra.yaml and overrides.yaml.
Result<void> write_config_files(const Configuration& configuration,
                                const pipeline::RunSetup& setup) {
  const config::Composition& composition = configuration.composition();
  const std::filesystem::path& folder = setup.folder;
  const Redactor& redactor = setup.redactor;
  PL_TRY(write_private_file(folder / run::files::kConfig, yaml_text(composition.config, redactor)));
  Node overrides = Node::list();
  for (const config::Override& given : composition.overrides) {
    overrides.as_list().push_back(Node::string(given.text));
  }
  PL_TRY(write_private_file(folder / run::files::kOverrides, yaml_text(overrides, redactor)));
  PL_TRY(write_private_file(folder / run::files::kResolvedConfig,
                            PL_TRY(pipeline::handed_config(setup, {}))));
  PL_TRY(
      write_file_atomic(folder / run::files::kCeilings, PL_TRY(to_document(setup.known_ceilings))));
  PL_TRY(write_private_file(folder / run::files::kConfigOrigins,
                            PL_TRY(write_json(origins_document(composition, redactor), kLenient))));
  const auto subdir = PL_TRY(hydra_output_subdir(configuration.hydra()));
  return subdir ? write_hydra_files(configuration, setup, *subdir) : Result<void>();
}

/// Reports the findings of preflights that do not prevent the run from starting.
void report_findings(const pipeline::RunPlan& plan, Progress& progress) {
  const auto report = [&](const std::string& subject, const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      std::string text = subject + finding.text;
      if (!finding.fix.empty()) text += "; " + finding.fix;
      if (finding.severity == Severity::Warning) progress.warning(text);
      if (finding.severity == Severity::Note) progress.detail(text);
    }
  };
  report("", plan.findings);
  for (const pipeline::PlannedStage& stage : plan.stages) {
    if (stage.is_on()) report(std::string(stage.stage->id()) + ": ", stage.findings);
  }
}

RunRecord new_record(const PreparedRun& run, const RunRequest& request, const Clock& clock) {
  const pipeline::RunSetup& setup = run.plan.setup;
  RunRecord record;
  record.id = setup.id;
  record.started = utc_timestamp(clock.wall_now());
  record.command_line.argv = request.argv;
  record.command_line.cwd = setup.cwd.string();
  record.command_line.config_name = request.choice.name;
  record.command_line.config_path = request.choice.path;
  record.command_line.config_dir = request.choice.dir;
  return record;
}

/// Records the facts about this attempt at the run.
void fill_in(const PreparedRun& run, RunRecord& record) {
  const pipeline::RunSetup& setup = run.plan.setup;
  record.experiment = setup.settings.experiment_name();
  record.state = RunState::Running;
  record.exit_code.reset();
  record.ended.clear();
  record.version = kVersion;
  record.commit = kCommit;
  record.device = setup.settings.device.to_string();
  record.host = run::host_name();
  record.boot_id = run::boot_id();
  record.process = run::own_process();
  record.command_line.overrides = run.overrides;
  record.tools = pipeline::remembered_tools(run.plan.tools, std::move(record.tools));
  record.sampling_seed = setup.sampling_seed;
  record.findings = run.plan.findings;
}

/// Saves the user's rules, so that reports that are written again use the same ones. Without rules,
/// removes the file that a resumed run may still have.
Result<void> write_kernel_classes(const pipeline::RunSetup& setup) {
  const fs::path file = setup.folder / run::files::kKernelClasses;
  if (setup.kernel_classes.rules.empty()) {
    std::error_code failure;
    fs::remove(file, failure);
    return failure ? os_error("remove", file, failure.value()) : Result<void>();
  }
  return write_file_atomic(
      file, PL_TRY(write_document({"kernel_classes", 1}, schema::write(setup.kernel_classes))));
}

/// A repository says what is checked out, which may differ between the worktrees of one CI job; its
/// variables help where the sources were copied without it.
std::string source_commit_of(const pipeline::RunSetup& setup) {
  std::string commit = checked_out_commit(setup.cwd / setup.settings.pipeline.workload.cwd);
  for (const char* variable : {"GITHUB_SHA", "CI_COMMIT_SHA"}) {
    if (!commit.empty()) break;
    const std::string given = environment_variable(variable).value_or("");
    if (is_commit_hash(given)) commit = given;
  }
  return commit;
}

Result<void> write_environment(const PreparedRun& run, ProcessRunner& processes) {
  Environment environment = pipeline::look_around(run.plan.tools, processes);
  std::error_code failure;
  environment.profline =
      ProgramFacts{fs::read_symlink("/proc/self/exe", failure).string(), kVersion};
  environment.commit = kCommit;
  environment.source_commit = source_commit_of(run.plan.setup);
  const Node document = redacted(pipeline::to_node(environment), run.plan.setup.redactor);
  return write_file_atomic(run.plan.setup.folder / run::files::kEnvironment,
                           PL_TRY(write_json(document)));
}

/// Owns a run's files until run.json exists: a command that fails or is interrupted before that
/// leaves nothing in a folder that it created.
class StartingRun {
 public:
  explicit StartingRun(const run::RunFolder& folder) {
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

/// Writes the run's own files, then runs the Pending stages of the record.
Result<FinishedRun> carry_out(PreparedRun& run, RunRecord record, const Services& services,
                              const Clock& clock, Progress& progress) {
  const fs::path folder = run.plan.setup.folder;
  run::clear_unfinished_starts(folder, !run.folder_was_named, clock);
  StartingRun starting(*run.folder);
  PL_TRY(write_config_files(*run.configuration, run.plan.setup));
  PL_TRY(write_kernel_classes(run.plan.setup));
  const LogLevel least = run.plan.setup.verbosity > 0 ? LogLevel::Debug : LogLevel::Info;
  const Redactor& redactor = run.plan.setup.redactor;
  const Log log = PL_TRY(Log::open(folder / run::files::kRunLog, least, clock, redactor));
  log.info("profline " + std::string(kVersion) + " (" + kCommit + ")");
  log.info("overrides: " + join(redactor.words(run.overrides), " "));
  log.info("PATH: " + own_path());
  PL_TRY(write_environment(run, services.processes));
  run::RunJournal journal(folder, std::move(record), redactor);
  PL_TRY(journal.save());
  starting.started();
  run.folder->keep();
  if (!run.folder_was_named) {
    if (auto finding = run::point_latest_at(folder)) {
      journal.record().findings.push_back(std::move(*finding));
    }
  }
  const pipeline::RunServices world{services.processes, services.interrupt, progress, log, clock};
  std::string verdict;
  const auto write_reports = [&](const run::Run& opened) -> Result<void> {
    verdict = PL_TRY(write_every_report(opened)).verdict;
    return {};
  };
  const ExitCode code = PL_TRY(pipeline::execute(run.plan, journal, world, write_reports));
  if (const auto health = log.health(); !health) {
    progress.warning("the run's log is incomplete: " + health.error().to_string());
  }
  return FinishedRun{folder, code, journal.record(), std::move(verdict)};
}

std::unique_ptr<Progress> progress_of_run(const Services& services, const Clock& clock) {
  auto progress = make_progress(services.progress, STDERR_FILENO, clock);
  return services.followed ? services.followed(std::move(progress)) : std::move(progress);
}

}  // namespace

Result<FinishedRun> start_run(PreparedRun& run, const RunRequest& request,
                              const Services& services) {
  const SystemClock clock;
  const auto progress = progress_of_run(services, clock);
  report_findings(run.plan, *progress);
  if (auto obstacle = run.plan.obstacle()) return std::move(*obstacle);
  RunRecord record = new_record(run, request, clock);
  fill_in(run, record);
  pipeline::enter_stages(run.plan, record);
  return carry_out(run, std::move(record), services, clock, *progress);
}

Result<FinishedRun> resume_run(RunRequest request, const Services& services) {
  const SystemClock clock;
  const auto progress = progress_of_run(services, clock);
  RunRecord record = PL_TRY(run::read_record(*request.resume));
  const CommandLineRecord& given = record.command_line;
  request.choice = {given.config_path, given.config_dir, given.config_name,
                    PL_TRY(pipeline::resumed_overrides(given.overrides, request.choice.overrides)),
                    fs::path(given.cwd)};
  request.sampling_seed = record.sampling_seed;
  request.programs.remembered = record.tools;
  PreparedRun run = PL_TRY(prepare_run(request, Making::Folder, services));
  record = run.folder->record();  // the run may have ended meanwhile
  for (const std::string& line :
       pipeline::end_leftovers(record, run.plan.tools, services.processes)) {
    progress->message(line);
  }
  report_findings(run.plan, *progress);
  if (auto obstacle = run.plan.obstacle()) return std::move(*obstacle);
  if (auto lost = pipeline::lost_stages(run.plan, record)) return std::move(*lost);
  PL_TRY(run::remove_temporaries(run.plan.setup.folder, clock));
  const std::vector<std::string> changed =
      pipeline::changed_inputs(run::Run::with_record(run.plan.setup.folder, record));
  if (!changed.empty()) progress->message("inputs changed: " + join(changed, ", "));
  const auto decisions = pipeline::decide_resume(run.plan, record, !changed.empty());
  for (const pipeline::ResumeDecision& decision : decisions) {
    if (decision.runs) progress->message(decision.stage + " runs: " + decision.why);
    if (!decision.runs) progress->detail(decision.stage + " is not run again: " + decision.why);
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

Result<report::Written> write_every_report(const run::Run& run) {
  const RunSummary summary = summary::summarise(run);
  report::Written written = PL_TRY(report::write_reports(run, summary));
  written.files.push_back(PL_TRY(web::write_page(run, summary)));
  return written;
}

Result<report::Written> rewrite_reports(const fs::path& run) {
  // Only the holder of the lock writes run.json. For a run in progress that is the run itself, so
  // only its reports are written here.
  std::optional<run::FolderLock> lock(std::in_place, run, run::FolderLock::Kind::Own);
  std::optional<run::RunFolder> waited;
  if (lock->is_taken() && PL_TRY(run::read_record(run)).state != RunState::Running) {
    lock.reset();
    waited.emplace(PL_TRY(run::RunFolder::reopen(run)));
  }
  const run::Run opened = PL_TRY(run::Run::open(run));
  const report::Written written = PL_TRY(write_every_report(opened));
  if (opened.record().state == RunState::Running) return written;
  PL_TRY(run::record_digests(run, opened.record(), written.files));
  return written;
}

}  // namespace profline::session
