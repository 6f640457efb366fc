#include "pipeline/plan.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "formats/node.h"
#include "run/names/artifact_names.h"
#include "schema/scalar_codecs.h"

namespace profline::pipeline {
namespace {

using settings::Enable;

constexpr std::string_view kBaseline = run::stages::kBaseline;

Enable enable_of(const Stage& stage, const settings::Root& settings) {
  return stage.settings(settings.pipeline).enable;
}

bool has_problem(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity == Severity::Problem; });
}

/// `pipeline.nsys.enable is false (conf/config.yaml:41:13)`
std::string reason(const Stage& stage, Enable enable, const WhereSet& where) {
  const std::string key = "pipeline." + std::string(stage.id()) + ".enable";
  std::string text = key + " is " + std::string(schema::name_of(enable));
  const std::string place = where(key);
  return place.empty() ? text : text + " (" + place + ")";
}

/// Decides on, off or skipped for every stage except a baseline in its default setting.
PlannedStage decide(const Stage& stage, const StageContext& context, const WhereSet& where) {
  PlannedStage planned;
  planned.stage = &stage;
  const Enable enable = enable_of(stage, context.setup.settings);
  planned.why = reason(stage, enable, where);
  if (enable == Enable::No) return planned;
  planned.findings = stage.preflight(context);
  const bool skips = enable == Enable::Auto && has_problem(planned.findings);
  planned.state = skips ? StageState::Skipped : StageState::Pending;
  return planned;
}

PlannedStage decide_baseline(const Stage& stage, const std::vector<std::string>& measured,
                             const StageContext& context, const WhereSet& where) {
  PlannedStage planned;
  planned.stage = &stage;
  planned.why = reason(stage, Enable::Auto, where);
  if (measured.empty()) {
    planned.why += ", and no stage that is compared with it is on";
    return planned;
  }
  planned.why += ", and stages that are compared with it are on: " + join(measured, ", ");
  planned.findings = stage.preflight(context);
  planned.state = StageState::Pending;
  return planned;
}

/// The stages in the order in which they run.
std::vector<const Stage*> in_order(const Stages& stages, const settings::Root& settings) {
  std::vector<const Stage*> order;
  std::vector<const Stage*> waiting;  // for the baseline
  const auto has_baseline = [&] {
    return std::any_of(order.begin(), order.end(),
                       [](const Stage* stage) { return stage->id() == kBaseline; });
  };
  for (const auto& stage : stages) {
    if (stage->reads_baseline(settings) && !has_baseline()) {
      waiting.push_back(stage.get());
      continue;
    }
    order.push_back(stage.get());
    if (stage->id() != kBaseline) continue;
    order.insert(order.end(), waiting.begin(), waiting.end());
    waiting.clear();
  }
  order.insert(order.end(), waiting.begin(), waiting.end());
  return order;
}

/// A Problem and the stages that have it.
struct Obstacle {
  Finding finding;
  std::vector<std::string> stages;

  Error to_error() const {
    std::string text;
    if (!stages.empty()) {
      text = (stages.size() == 1 ? "stage " : "stages ") + join(stages, ", ") + ": ";
    }
    text += finding.text;
    if (!finding.fix.empty()) text += "; " + finding.fix;
    return Error(finding.kind, std::move(text)).with_reason("preflight");
  }
};

}  // namespace

std::filesystem::path RunSetup::stage_folder(std::string_view stage) const {
  if (!rank) return folder / stage;
  return folder / stage / run::folders::kRanks / std::to_string(*rank);
}

const PlannedCommand& StagePlan::command(std::string_view name) const {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const PlannedCommand& one) { return one.name == name; });
  PL_ASSERT(found != commands.end(), "a stage asks for commands of its own plan");
  return *found;
}

std::optional<Error> RunPlan::obstacle() const {
  std::vector<Obstacle> obstacles;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::Problem) obstacles.push_back({finding, {}});
  }
  const auto add = [&](const std::string& stage, const Finding& finding) {
    const auto same = std::find_if(obstacles.begin(), obstacles.end(), [&](const Obstacle& one) {
      return !one.stages.empty() && one.finding == finding;
    });
    if (same == obstacles.end()) {
      obstacles.push_back({finding, {stage}});
    } else {
      same->stages.push_back(stage);
    }
  };
  for (const PlannedStage& stage : stages) {
    for (const Finding& finding : stage.findings) {
      const bool stops = stage.is_on() && finding.severity == Severity::Problem;
      if (stops) add(std::string(stage.stage->id()), finding);
    }
  }
  if (obstacles.empty()) return std::nullopt;
  std::vector<Error> problems;
  problems.reserve(obstacles.size());
  for (const Obstacle& one : obstacles) problems.push_back(one.to_error());
  return Error::all(problems);
}

RunPlan redacted(RunPlan plan) {
  const Redactor& redactor = plan.setup.redactor;
  const auto redact_texts = [&](std::vector<std::string>& texts) {
    for (std::string& text : texts) text = redactor.text(text);
  };
  const auto redact_findings = [&](std::vector<Finding>& findings) {
    for (Finding& finding : findings) finding.text = redactor.text(finding.text);
  };
  plan.setup.config = redacted(plan.setup.config, redactor);
  redact_findings(plan.findings);
  for (PlannedStage& stage : plan.stages) {
    redact_findings(stage.findings);
    redact_texts(stage.plan.limits);
    redact_texts(stage.plan.notes);
    for (PlannedCommand& planned : stage.plan.commands) {
      planned.command = redacted(std::move(planned.command), redactor);
    }
  }
  return plan;
}

Stage::Needs needs_of(const Stages& stages, const settings::Root& settings) {
  Stage::Needs all;
  for (const auto& stage : stages) {
    if (enable_of(*stage, settings) == Enable::No) continue;
    const Stage::Needs needs = stage->needs(settings);
    all.workload |= needs.workload;
    all.nsys |= needs.nsys;
    all.ncu |= needs.ncu;
  }
  return all;
}

RunPlan make_plan(RunSetup setup, Toolbox tools, const Stages& stages, const WhereSet& where) {
  RunPlan run{std::move(setup), std::move(tools), {}, {}};
  const auto is_undecided = [&](const Stage& stage) {
    return stage.id() == kBaseline && enable_of(stage, run.setup.settings) == Enable::Auto;
  };
  std::vector<std::string> measured;
  for (const Stage* stage : in_order(stages, run.setup.settings)) {
    if (is_undecided(*stage)) {
      run.stages.push_back({stage, StageState::Off, {}, {}, {}});
      continue;
    }
    run.stages.push_back(decide(*stage, run.context(), where));
    const bool needs_baseline =
        stage->is_measured_against_baseline() || stage->reads_baseline(run.setup.settings);
    if (run.stages.back().is_on() && needs_baseline) {
      measured.emplace_back(stage->id());
    }
  }
  for (PlannedStage& planned : run.stages) {
    if (is_undecided(*planned.stage)) {
      planned = decide_baseline(*planned.stage, measured, run.context(), where);
    }
    if (planned.stage->id() == kBaseline) run.setup.baseline_is_on = planned.is_on();
  }
  for (PlannedStage& planned : run.stages) {
    if (planned.is_on()) planned.plan = planned.stage->plan(run.context());
  }
  return run;
}

}  // namespace profline::pipeline
