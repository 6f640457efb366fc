#include "stages/torch_profiler/torch_profiler_stage.h"

#include "base/figures.h"
#include "base/files.h"
#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "run/artifacts.h"
#include "stages/program_gate/program_gate.h"
#include "stages/ranks/ranked_stage.h"
#include "stages/torch_profiler/internal/traces.h"

namespace profline::stages {
namespace {

using pipeline::Finding;
using pipeline::Severity;

/// Why a table cannot be used; nothing if it can, or if it is missing, which is reported elsewhere.
template <typename T>
std::optional<Finding> useless_table(const run::Artifact<T>& table, bool has_rows,
                                     const std::string& rows, Severity severity) {
  if (!table.is_there || has_rows) return std::nullopt;
  const std::string name = std::filesystem::path(table.file).filename().string();
  return Finding{severity, "capture_empty", table ? name + " holds no " + rows : table.why_not};
}

bool has_rows(const Node& document, const char* rows) {
  const Node* list = document.find(rows);
  return list != nullptr && list->is_list() && !list->as_list().empty();
}

}  // namespace

pipeline::Stage::Needs TorchProfilerStage::needs(const settings::Root& settings) const {
  return {.workload = !settings.pipeline.workload.user_command()};
}

std::vector<Finding> TorchProfilerStage::preflight(const pipeline::StageContext& context) const {
  if (is_program(context.setup)) return internal::program_preflight(context);
  return pipeline::workload_preflight(context);
}

pipeline::StagePlan TorchProfilerStage::plan(const pipeline::StageContext& context) const {
  const pipeline::RunSetup& setup = context.setup;
  if (is_program(setup)) return internal::program_plan(context);
  const settings::TorchProfiler& own = setup.settings.pipeline.torch_profiler;
  pipeline::WorkloadRun workload{.stage = id(),
                                 .mode = "torch_profiler",
                                 .config = handed_config_file(setup, id(), {}),
                                 .out = setup.stage_folder(id())};
  if (setup.baseline_is_on) workload.baseline = setup.stage_folder(run::stages::kBaseline);
  pipeline::StagePlan plan;
  plan.commands.push_back({"workload", workload_command(context, workload)});
  plan.artifacts = {run::files::kTrace,         run::files::kOperators,
                    run::files::kOperatorsPage, run::files::kKernels,
                    run::files::kKernelsPage,   run::paths::kWorkloadRequests,
                    run::files::kWorkloadFacts, run::files::kLog};
  if (own.profile_memory) plan.artifacts.emplace_back(run::files::kMemory);
  if (setup.baseline_is_on && own.output.prediction.enable) {
    plan.artifacts.push_back(own.output.prediction_dir().string());
  }
  if (setup.baseline_is_on && own.output.visualization.enable) {
    plan.artifacts.push_back(own.output.visualization_dir().string());
  }
  plan.limits.emplace_back("1 image: the first of the sampled ones");
  if (own.decode_steps) {
    plan.limits.push_back(counted(*own.decode_steps, "token") +
                          " after prefill (pipeline.torch_profiler.decode_steps)");
  }
  if (!setup.baseline_is_on) {
    plan.notes.emplace_back("no predictions or pictures: the baseline writes them, and it is off");
  }
  return plan;
}

Result<void> TorchProfilerStage::run(const pipeline::StageContext& context,
                                     const pipeline::StagePlan& plan,
                                     pipeline::StageRun& run) const {
  if (is_program(context.setup)) return internal::trace_program(context, plan, run);
  PL_TRY(run_commands(plan, run));
  return {};
}

std::vector<Finding> TorchProfilerStage::verify(const pipeline::StageContext& context,
                                                const run::Run& files) const {
  if (is_program(context.setup)) return internal::verify_program(context);
  const std::filesystem::path folder = context.setup.stage_folder(id());
  std::vector<Finding> findings = pipeline::workload_remarks(folder);
  for (Finding& missing : pipeline::missing_files(
           folder, {run::files::kTrace, run::files::kOperators, run::files::kKernels})) {
    findings.push_back(std::move(missing));
  }
  const run::Artifact<TorchOperators>& operators = files.get(run::kTorchOperators);
  const bool has_operators = operators && !operators->operators.empty();
  if (auto finding = useless_table(operators, has_operators, "operators", Severity::Problem)) {
    findings.push_back(std::move(*finding));
  }
  const bool is_gpu = context.setup.settings.device.kind == settings::Device::Kind::Cuda;
  if (!is_gpu) return findings;
  const run::Artifact<Node> kernels = files.read(run::kTorchKernels);
  const bool has_kernels = kernels && has_rows(*kernels, "kernels");
  if (auto finding = useless_table(kernels, has_kernels, "kernels", Severity::Warning)) {
    findings.push_back(std::move(*finding));
  }
  return findings;
}

Result<void> TorchProfilerStage::summarise(const pipeline::StageContext& context,
                                           const run::Run& files, pipeline::StageRun& run) const {
  if (has_ranks(context.setup)) return internal::write_rank_tables(context, files, run);
  // profline may not have started a server.
  if (is_program(context.setup) || is_server(context.setup)) {
    return internal::write_tables(context, files, run);
  }
  return {};  // the built-in workload writes its tables itself
}

}  // namespace profline::stages
