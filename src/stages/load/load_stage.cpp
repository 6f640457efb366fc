#include "stages/load/load_stage.h"

#include <cstdlib>

#include "base/figures.h"
#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "process/runner.h"
#include "records/load.h"
#include "records/run_record.h"
#include "run/artifacts.h"

namespace profline::stages {
namespace {

constexpr const char* kProgram = "profline-load";
constexpr const char* kCommandName = "load";

const settings::Load& load_of(const pipeline::StageContext& context) {
  return context.setup.settings.pipeline.workload.load;
}

/// What went wrong most often.
std::string nothing_succeeded(const LoadRecord& load) {
  std::string text = "no request succeeded";
  if (load.errors.empty()) return text;
  const LoadError& most = load.errors.front();
  return text + ": " + counted(load.counts.failed, "request") + " failed, most with " + most.kind +
         " (" + most.example + ")";
}

}  // namespace

/// It has no settings of its own besides the load.
const settings::Stage& LoadStage::settings(const settings::Pipeline& /*pipeline*/) const {
  static const settings::Stage kOn{settings::Enable::Yes, std::nullopt};
  return kOn;
}

std::vector<Finding> LoadStage::preflight(const pipeline::StageContext& context) const {
  std::vector<Finding> findings;
  if (const auto program = find_companion(kProgram); !program) {
    findings.push_back({Severity::Problem, "load_absent", program.error().message(),
                        "it is installed with profline; build it with 'make build'"});
  }
  const settings::Load& load = load_of(context);
  if (load.command) {
    findings.push_back({Severity::Problem, "load_command",
                        "pipeline.workload.load.command names another load generator, which works "
                        "only with a server that profline starts itself",
                        "set it to null", ErrorKind::Config});
  }
  if (load.api_key_env && std::getenv(load.api_key_env->c_str()) == nullptr) {
    findings.push_back({Severity::Problem, "no_api_key",
                        "the environment variable " + *load.api_key_env +
                            " (pipeline.workload.load.api_key_env) is not set",
                        "export it, or set the key to null"});
  }
  return findings;
}

pipeline::StagePlan LoadStage::plan(const pipeline::StageContext& context) const {
  const pipeline::RunSetup& setup = context.setup;
  Command command;
  command.argv = {find_companion(kProgram).value_or(kProgram).string(),
                  "--config",
                  (setup.folder / run::files::kResolvedConfig).string(),
                  "--out",
                  setup.folder.string(),
                  "--base",
                  setup.cwd.string()};
  if (auto secrets = pipeline::config_secrets(setup)) {
    command.env[kConfigSecrets] = *std::move(secrets);
  }
  command.log = setup.stage_folder(id()) / run::files::kLog;
  pipeline::StagePlan plan;
  plan.commands.push_back({kCommandName, std::move(command)});
  plan.artifacts = {run::files::kLog};
  return plan;
}

Result<void> LoadStage::run(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                            pipeline::StageRun& run) const {
  const pipeline::PlannedCommand& command = plan.command(kCommandName);
  const Exit exit = PL_TRY(run.execute(command));
  std::error_code failure;
  const bool has_result =
      std::filesystem::exists(context.setup.folder / run::files::kLoad, failure);
  if (!exit.succeeded() && !has_result) run.report(child_problem(command, exit));
  return {};
}

std::vector<Finding> LoadStage::verify(const pipeline::StageContext& /*context*/,
                                       const run::Run& files) const {
  const run::Artifact<LoadRecord>& load = files.get(run::kLoad);
  if (!load) {
    return {{Severity::Problem, "no_result", load.file + " " + load.why_not,
             "see " + std::string(run::stages::kLoad) + "/" + run::files::kLog}};
  }
  std::vector<Finding> findings = load->findings;
  if (load->counts.succeeded == 0) {
    findings.push_back({Severity::Problem, "nothing_succeeded", nothing_succeeded(*load)});
  }
  return findings;
}

Result<void> LoadStage::summarise(const pipeline::StageContext& /*context*/,
                                  const run::Run& /*files*/, pipeline::StageRun& /*run*/) const {
  return {};
}

}  // namespace profline::stages
