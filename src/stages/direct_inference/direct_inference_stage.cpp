#include "stages/direct_inference/direct_inference_stage.h"

#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "run/names/artifact_names.h"

namespace profline::stages {

using pipeline::Finding;

pipeline::Stage::Needs DirectInferenceStage::needs(const settings::Root& settings) const {
  return {.workload = !settings.pipeline.workload.user_command()};
}

std::vector<Finding> DirectInferenceStage::preflight(const pipeline::StageContext& context) const {
  if (auto refused = pipeline::refuse_users_command(
          context, id(), "predictions are those of the built-in workload")) {
    return {std::move(*refused)};
  }
  return pipeline::workload_preflight(context);
}

pipeline::StagePlan DirectInferenceStage::plan(const pipeline::StageContext& context) const {
  const pipeline::RunSetup& setup = context.setup;
  const settings::Output& output = setup.settings.pipeline.direct_inference.output;
  pipeline::StagePlan plan;
  plan.commands.push_back(
      {"workload", workload_command(context, {.stage = id(),
                                              .mode = "direct_inference",
                                              .config = handed_config_file(setup, id(), {}),
                                              .out = setup.stage_folder(id())})});
  plan.artifacts = {run::files::kRequests, run::files::kReadInputs, run::files::kWorkloadFacts,
                    run::files::kLog};
  if (output.prediction.enable) {
    plan.artifacts.push_back((output.prediction_dir() / run::files::kPredictions).string());
  }
  if (output.visualization.enable) plan.artifacts.push_back(output.visualization_dir().string());
  if (auto note = pipeline::engine_note(context.setup.settings)) {
    plan.notes.push_back(std::move(*note));
  }
  return plan;
}

Result<void> DirectInferenceStage::run(const pipeline::StageContext& /*context*/,
                                       const pipeline::StagePlan& plan,
                                       pipeline::StageRun& run) const {
  PL_TRY(run_commands(plan, run));
  return {};
}

std::vector<Finding> DirectInferenceStage::verify(const pipeline::StageContext& context,
                                                  const run::Run& /*files*/) const {
  const std::filesystem::path folder = context.setup.stage_folder(id());
  const settings::Output& output = context.setup.settings.pipeline.direct_inference.output;
  std::vector<Finding> findings = pipeline::workload_remarks(folder);
  for (Finding& missing : pipeline::missing_files(folder, {run::files::kRequests})) {
    findings.push_back(std::move(missing));
  }
  if (!output.prediction.enable) return findings;
  for (Finding& missing :
       pipeline::missing_files(folder / output.prediction_dir(), {run::files::kPredictions})) {
    findings.push_back(std::move(missing));
  }
  return findings;
}

Result<void> DirectInferenceStage::summarise(const pipeline::StageContext& /*context*/,
                                             const run::Run& /*files*/,
                                             pipeline::StageRun& /*run*/) const {
  return {};
}

}  // namespace profline::stages
