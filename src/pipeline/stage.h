#pragma once

#include <cstdint>
#include <filesystem>
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
#include "process/command.h"
#include "process/runner.h"
#include "records/finding.h"
#include "records/timeline.h"
#include "settings/hardware.h"
#include "settings/kernel_classes.h"
#include "settings/root.h"

namespace profline::pipeline {

using profline::Finding;
using profline::Severity;

/// What all stages of a run share, decided before the first of them starts and never changed.
struct RunSetup {
  std::string id;                ///< of the run: the folder's name; also in nsys's session name
  std::filesystem::path folder;  ///< of the run; absolute
  std::filesystem::path cwd;     ///< where the command was started: relative paths start here
  Node config;                   ///< resolved, `device` decided; config.resolved.json less secrets
  settings::Root settings;       ///< the same, read
  bool chdir = true;  ///< hydra.job.chdir: the built-in workload starts in its stage's folder
  /// Of a random order of images whose seed the config leaves open: all stages see the same images.
  std::optional<std::uint64_t> sampling_seed;
  bool baseline_is_on = false;  ///< whether times are there to compare with
  std::string device_name;      ///< what the driver calls the device; empty: none, or a CPU
  settings::Ceilings ceilings;  ///< of the device; empty: it is not known
  settings::KernelClasses kernel_classes{};  ///< the user's rules, before the shipped ones
  int verbosity = 0;
  Redactor redactor{};  ///< what is written down goes through it

  std::filesystem::path stage_folder(std::string_view stage) const { return folder / stage; }
};

/// What a stage decides with: nothing else, so that `plan` prints what `run` does.
struct StageContext {
  const RunSetup& setup;
  const Toolbox& tools;
};

/// A child that a stage runs.
struct PlannedCommand {
  std::string name;  ///< what for, unique in the stage: `capture`, `export`
  Command command;
  std::string condition{};  ///< when, if not always: `if nothing was captured`
};

/// A value that a stage's workload is given otherwise than the baseline's.
struct ConfigChange {
  std::string key;
  Node value;
  std::string why;
};

/// All that can be said of a stage before it runs.
struct StagePlan {
  std::vector<PlannedCommand> commands;
  std::vector<std::string> artifacts;  ///< files and folders it will leave, below its folder
  std::vector<ConfigChange> changes;
  std::vector<std::string> limits;  ///< `the first 2 requests (pipeline.nsys.samples)`
  std::vector<std::string> notes;   ///< translations and the like

  /// The command of that name, which the plan has.
  const PlannedCommand& command(std::string_view name) const;
};

/// What a running stage may use of the world. Every child goes through execute(), which keeps its
/// argv, environment, exit and times in run.json; the user's interrupt and the stage's timeout are
/// seen to here.
class StageRun {
 public:
  virtual ~StageRun() = default;
  /// An Error means that the child never ran. The observer may be absent.
  virtual Result<Exit> execute(const PlannedCommand& planned, RunObserver* observer = nullptr) = 0;
  /// Runs what only asks (`nsys --help`): kept in the log, not in run.json.
  virtual ProcessRunner& processes() = 0;
  virtual Progress& progress() = 0;
  virtual const Log& log() = 0;
  /// Told to the user at once, and kept.
  virtual void tell(Finding finding) = 0;
  /// Names a detached thing to be ended with this run, or by --resume if we die: an nsys session.
  virtual void remember_session(const std::string& name) = 0;
  /// Hands a capture of nsys that the stage has read to the reports, which need not read it again.
  /// `sqlite` is its export, from the stage's folder.
  virtual void keep_capture(std::string sqlite, Timeline capture) = 0;
};

/// One step of a run. It keeps nothing in between: stages meet in artifacts.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual std::string_view id() const = 0;
  virtual const settings::Stage& settings(const settings::Pipeline& pipeline) const = 0;
  /// Whether its times are told beside those of an unprofiled run.
  virtual bool is_measured_against_baseline() const = 0;
  /// What it needs of the machine, so that only that is looked for.
  struct Needs {
    bool workload = false;  ///< the built-in one; a user's command needs none
    bool nsys = false;
    bool ncu = false;
  };
  virtual Needs needs(const settings::Root& settings) const = 0;

  /// Before anything runs; a Problem stops the run, or skips a stage whose enable is auto.
  virtual std::vector<Finding> preflight(const StageContext& context) const = 0;
  /// Pure.
  virtual StagePlan plan(const StageContext& context) const = 0;
  /// Runs the plan that it was given: what plan() made before. A child that failed is a Problem
  /// told, not an Error; an Error means that we could not do our own part.
  virtual Result<void> run(const StageContext& context, const StagePlan& plan,
                           StageRun& run) const = 0;
  /// What was captured and what was not, from the files; called also after a timeout or an
  /// interrupt.
  virtual std::vector<Finding> verify(const StageContext& context) const = 0;
  /// Tables and JSON made from what was captured; called when verify() found no Problem.
  virtual Result<void> summarise(const StageContext& context, StageRun& run) const = 0;
};

}  // namespace profline::pipeline
