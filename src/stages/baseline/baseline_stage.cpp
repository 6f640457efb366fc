#include "stages/baseline/baseline_stage.h"

#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "records/request.h"
#include "run/run.h"
#include "stages/baseline/internal/program_baseline.h"
#include "stages/ranks/ranked_stage.h"

namespace profline::stages {
namespace {

using pipeline::Finding;
using pipeline::Severity;

bool is_users_command(const pipeline::StageContext& context) {
  return context.setup.settings.pipeline.workload.user_command().has_value();
}

pipeline::WorkloadRun workload_of(const pipeline::StageContext& context) {
  const pipeline::RunSetup& setup = context.setup;
  const char* id = run::stages::kBaseline;
  return {.stage = id,
          .mode = "baseline",
          .config = handed_config_file(setup, id, {}),
          .out = setup.stage_folder(id),
          .program = {.loads_recorder = true}};
}

RankRun rank_run(const pipeline::StageContext& context) {
  return {.command = workload_command(context, workload_of(context))};
}

}  // namespace

pipeline::Stage::Needs BaselineStage::needs(const settings::Root& settings) const {
  return {.workload = !settings.pipeline.workload.user_command()};
}

std::vector<Finding> BaselineStage::preflight(const pipeline::StageContext& context) const {
  std::vector<Finding> findings = pipeline::workload_preflight(context);
  for (Finding& finding : launch_preflight(context)) findings.push_back(std::move(finding));
  return findings;
}

pipeline::StagePlan BaselineStage::plan(const pipeline::StageContext& context) const {
  const pipeline::RunSetup& setup = context.setup;
  pipeline::StagePlan plan;
  if (has_ranks(setup)) {
    add_launch(context, id(), rank_run, plan);
  } else {
    plan.commands.push_back({"workload", workload_command(context, workload_of(context))});
  }
  if (is_users_command(context)) {
    internal::add_program_plan(context, plan);
    return plan;
  }
  if (auto note = pipeline::engine_note(setup.settings)) plan.notes.push_back(std::move(*note));
  plan.artifacts = {run::files::kRequests,   run::files::kMetrics,       run::files::kTexts,
                    run::files::kReadInputs, run::files::kWorkloadFacts, run::files::kLog};
  if (setup.settings.device.kind == settings::Device::Kind::Cuda) {
    plan.artifacts.emplace_back(run::files::kGpuReadings);
    if (std::holds_alternative<settings::deepseek_ocr::Subject>(setup.settings.subject)) {
      plan.artifacts.emplace_back(run::files::kRepeatedPhases);
    }
  }
  return plan;
}

Result<void> BaselineStage::run(const pipeline::StageContext& context,
                                const pipeline::StagePlan& plan, pipeline::StageRun& run) const {
  if (!is_users_command(context)) {
    PL_TRY(run_commands(plan, run));
    return {};
  }
  if (has_ranks(context.setup)) return internal::run_ranks(context, plan, rank_run, run);
  return internal::run_program(context, plan, run);
}

std::vector<Finding> BaselineStage::verify(const pipeline::StageContext& context,
                                           const run::Run& files) const {
  const std::filesystem::path folder = context.setup.stage_folder(id());
  std::vector<Finding> findings =
      is_users_command(context)
          ? pipeline::missing_files(folder, {run::files::kProcess})
          : pipeline::missing_files(folder, {run::files::kRequests, run::files::kMetrics});
  if (!is_users_command(context)) {
    std::vector<Finding> remarks = pipeline::workload_remarks(folder);
    findings.insert(findings.begin(), remarks.begin(), remarks.end());
  }
  const run::Artifact<run::Requests>& requests = files.baseline();
  if (requests.is_there && !requests) {
    findings.push_back({Severity::Problem, "requests", requests.why_not});
  }
  return findings;
}

Result<void> BaselineStage::summarise(const pipeline::StageContext& /*context*/,
                                      const run::Run& /*files*/,
                                      pipeline::StageRun& /*run*/) const {
  return {};  // the workload writes metrics.json itself
}

}  // namespace profline::stages
