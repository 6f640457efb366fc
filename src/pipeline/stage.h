#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/progress.h"
#include "base/redaction.h"
#include "base/result.h"
#include "formats/node.h"
#include "pipeline/environment.h"
#include "process/interrupt.h"
#include "process/runner.h"
#include "records/ceilings.h"
#include "records/run_record.h"
#include "records/timeline.h"
#include "run/run.h"
#include "settings/hardware.h"
#include "settings/kernel_classes.h"
#include "settings/root.h"

namespace profline::pipeline {

using profline::Finding;
using profline::Severity;

/// What all stages of a run share; decided before the first of them starts and never changed.
struct RunSetup {
  std::string id;                ///< of the run: the folder's name; also in nsys's session name
  std::filesystem::path folder;  ///< of the run; absolute
  std::filesystem::path cwd;     ///< where the command was started: relative paths start here
  Node config;  ///< resolved, with `device` decided; config.resolved.json is this without secrets
  settings::Root settings;  ///< the same as typed settings
  bool chdir = true;        ///< hydra.job.chdir: the built-in workload starts in its stage's folder
  /// Seed of the random image order if the config does not set one: all stages see the same images.
  std::optional<std::uint64_t> sampling_seed;
  bool baseline_is_on = false;               ///< whether there are times to compare with
  std::string device_name;                   ///< as the driver names it; empty: not a GPU
  settings::Ceilings ceilings;               ///< of the device; empty: not known
  RunCeilings known_ceilings{};              ///< all that are known of it, and which are used
  settings::KernelClasses kernel_classes{};  ///< the user's rules, which precede the shipped ones
  int verbosity = 0;
  Redactor redactor{};  ///< everything that is recorded goes through it
  /// The rank that a stage deals with; nothing: the whole run, or a program without ranks.
  std::optional<std::uint32_t> rank{};

  /// Of a rank, the folder below the stage's.
  std::filesystem::path stage_folder(std::string_view stage) const;
};

/// All that a stage may base its decisions on, so that `plan` prints what `run` does.
struct StageContext {
  const RunSetup& setup;
  const Toolbox& tools;
};

/// A child that a stage runs.
struct PlannedCommand {
  std::string name;  ///< its purpose, unique in the stage: `capture`, `export`
  Command command;
  std::string condition{};  ///< when, if not always: `if nothing was captured`
  /// Files besides the command's log that hold its output: those of ranks.
  std::vector<std::filesystem::path> more_logs{};
};

/// A config value that a stage's workload gets instead of the baseline's.
struct ConfigChange {
  std::string key;
  Node value;
  std::string why;
};

/// Everything that is known about a stage before it runs.
struct StagePlan {
  std::vector<PlannedCommand> commands;
  std::vector<std::string> artifacts;  ///< files and folders it will write, below its folder
  std::vector<ConfigChange> changes;
  std::vector<std::string> limits;  ///< `the first 2 requests (pipeline.nsys.samples)`
  std::vector<std::string> notes;   ///< translations and the like

  /// The command of that name, which the plan has.
  const PlannedCommand& command(std::string_view name) const;
};

/// A child that runs beside the stage: a server, its load. Destroying it ends it and everything
/// that it started.
class StageChild {
 public:
  virtual ~StageChild() = default;
  virtual const ProcessId& process() const = 0;
  /// Null if it still runs after that time. Its end is recorded here.
  virtual const Exit* wait(std::chrono::milliseconds at_most = std::chrono::milliseconds(0)) = 0;
  /// SIGKILL to it and everything that it started.
  virtual void kill() = 0;
};

/// The services available to a running stage. Every child goes through execute(), which records its
/// argv, environment, exit and times in run.json and handles the user's interrupt and the stage's
/// timeout.
class StageRun {
 public:
  virtual ~StageRun() = default;
  /// An Error means that the child never ran. The observer may be absent.
  virtual Result<Exit> execute(const PlannedCommand& planned, RunObserver* observer = nullptr) = 0;
  /// Starts a child that execute() would wait for. The observer, which may be absent, is called on
  /// another thread and must outlive the child.
  virtual Result<std::unique_ptr<StageChild>> start(const PlannedCommand& planned,
                                                    RunObserver* observer = nullptr) = 0;
  /// The user's request to stop, which a stage with such children looks at itself.
  virtual const Interrupt& interrupt() const = 0;
  /// Whether the stage's timeout has passed; reported once.
  virtual bool is_out_of_time() = 0;
  /// Something that happened now, for the terminal and run.json: `ready`, `after 3.2 s`.
  virtual void transition(const std::string& name, const std::string& note = {}) = 0;
  /// For commands that only query (`nsys --help`): kept in the log, not in run.json.
  virtual ProcessRunner& processes() = 0;
  virtual Progress& progress() = 0;
  virtual const Log& log() = 0;
  /// Reported to the user at once, and recorded.
  virtual void report(Finding finding) = 0;
  /// Ends the stage as skipped, for a reason that only what ran before it could show. The run has
  /// not failed.
  virtual void skip(Finding why) = 0;
  /// Whether a Problem was reported, so that the stage has failed.
  virtual bool has_problem() const = 0;
  /// Names something detached, such as an nsys session, that must be ended with this run, or by
  /// --resume if we die.
  virtual void remember_session(const std::string& name) = 0;
  /// Hands an nsys capture that was read to the rest of the stage and to the reports, so that they
  /// need not read it again. `sqlite` is its export, relative to the stage's folder.
  virtual void keep_capture(std::string sqlite, Timeline capture) = 0;
  /// A capture that was kept. Null: it was not, or it was too large; read it again.
  virtual const Timeline* kept_capture(std::string_view sqlite) const = 0;
  /// Does `reading`, whose time counts as reading and not as the orchestrator's own.
  virtual void read(const std::function<void()>& reading) = 0;
};

/// One step of a run. Stages are stateless and communicate only through artifacts.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual std::string_view id() const = 0;
  virtual const settings::Stage& settings(const settings::Pipeline& pipeline) const = 0;
  /// Whether its times are reported next to those of an unprofiled run.
  virtual bool is_measured_against_baseline() const = 0;
  /// Whether it works on the baseline's files, so that it runs after the baseline, and again if the
  /// baseline does.
  virtual bool reads_baseline(const settings::Root& /*settings*/) const { return false; }
  /// What it needs from the machine, so that only that is looked for.
  struct Needs {
    bool workload = false;  ///< the built-in one, which a user's command does not need
    bool nsys = false;
    bool ncu = false;
  };
  virtual Needs needs(const settings::Root& settings) const = 0;
  /// Whether its tables name classes of kernels, which the user's rules change.
  virtual bool classifies_kernels() const { return false; }

  /// Called before anything runs; a Problem stops the run, or skips a stage whose enable is auto.
  virtual std::vector<Finding> preflight(const StageContext& context) const = 0;
  /// Pure.
  virtual StagePlan plan(const StageContext& context) const = 0;
  /// Runs the plan that plan() made. A child that failed is reported as a Problem, not returned as
  /// an Error; an Error means that we could not do our own part.
  virtual Result<void> run(const StageContext& context, const StagePlan& plan,
                           StageRun& run) const = 0;
  /// Checks from the files what was captured and what was not; also called after a timeout or an
  /// interrupt. What is read through `files` is read once: the reports use it too.
  virtual std::vector<Finding> verify(const StageContext& context, const run::Run& files) const = 0;
  /// Writes tables and JSON from what was captured; called if verify() found no Problem.
  virtual Result<void> summarise(const StageContext& context, const run::Run& files,
                                 StageRun& run) const = 0;
};

}  // namespace profline::pipeline
