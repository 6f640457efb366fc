#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/environment.h"
#include "pipeline/stage.h"
#include "records/run_record.h"

namespace profline::pipeline {

using Stages = std::vector<std::unique_ptr<Stage>>;

/// One stage of a run, decided.
struct PlannedStage {
  const Stage* stage = nullptr;
  StageState state = StageState::Off;  ///< Off, Skipped or Pending (which plan calls `on`)
  std::string why;                     ///< `pipeline.nsys.enable is false (conf/config.yaml:41:13)`
  std::vector<Finding> findings;       ///< of its preflight
  StagePlan plan;                      ///< empty unless Pending

  bool is_on() const { return state == StageState::Pending; }
};

/// Everything that a run will do. The setup and the tools are the run's; stages must outlive it.
struct RunPlan {
  RunSetup setup;
  Toolbox tools;
  std::vector<PlannedStage> stages;
  std::vector<Finding> findings;  ///< about the run as a whole

  StageContext context() const { return {setup, tools}; }
  /// All Problems that prevent the run from starting, as one Error; nothing if the run can start.
  /// The kind of the first Problem chooses the exit code.
  std::optional<Error> obstacle() const;
};

/// The plan without its secrets, for display only; it must not be run.
RunPlan redacted(RunPlan plan);

/// What the enabled stages need of the machine.
Stage::Needs needs_of(const Stages& stages, const settings::Root& settings);

/// Where the value of a key was set: `conf/config.yaml:41:13`, `override 2`, or nothing.
using WhereSet = std::function<std::string(const std::string& key)>;

/// Decides which stages run and what each will do; pure. Setup and tools are complete except for
/// `baseline_is_on`, which is decided here: by default the baseline is on if any stage is on that
/// is measured against it or reads its files. A stage that reads them comes after it.
RunPlan make_plan(RunSetup setup, Toolbox tools, const Stages& stages, const WhereSet& where);

}  // namespace profline::pipeline
