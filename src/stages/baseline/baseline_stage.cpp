#include "stages/baseline/baseline_stage.h"

#include "base/files.h"
#include "formats/json_write.h"
#include "pipeline/child_failure.h"
#include "pipeline/workload_command.h"
#include "pipeline/workload_stage.h"
#include "records/sample.h"
#include "schema/read.h"
#include "stages/baseline/process_watch.h"

namespace profline::stages {
namespace {

using pipeline::Finding;
using pipeline::Severity;

constexpr const char* kProcessSchema = "profline.process/1";

bool is_users_command(const pipeline::StageContext& context) {
  return context.setup.settings.pipeline.workload.user_command().has_value();
}

Node process_document(const Exit& exit, const std::vector<ProcessUse>& processes) {
  const auto integer = [](auto value) { return Node::integer(static_cast<std::int64_t>(value)); };
  NodeMap document;
  document.set("schema", Node::string(kProcessSchema));
  document.set("runs", integer(1));
  document.set("end", Node::string(exit.describe()));
  document.set("wall_ns", integer(exit.wall.count()));
  document.set("cpu_user_ns", integer(std::chrono::nanoseconds(exit.cpu_user).count()));
  document.set("cpu_system_ns", integer(std::chrono::nanoseconds(exit.cpu_system).count()));
  document.set("max_rss_bytes", integer(exit.max_rss_bytes));
  Node list = Node::list();
  for (const ProcessUse& process : processes) list.as_list().push_back(schema::write(process));
  document.set("processes", std::move(list));
  return Node::map(std::move(document));
}

}  // namespace

pipeline::Stage::Needs BaselineStage::needs(const settings::Root& settings) const {
  return {.workload = !settings.pipeline.workload.user_command()};
}

std::vector<Finding> BaselineStage::preflight(const pipeline::StageContext& context) const {
  return pipeline::workload_preflight(context);
}

pipeline::StagePlan BaselineStage::plan(const pipeline::StageContext& context) const {
  const pipeline::RunSetup& setup = context.setup;
  pipeline::StagePlan plan;
  plan.commands.push_back(
      {"workload", workload_command(context, {.stage = id(),
                                              .mode = "baseline",
                                              .config = handed_config_file(setup, id(), {}),
                                              .out = setup.stage_folder(id())})});
  if (is_users_command(context)) {
    plan.artifacts = {"process.json", "log"};
    plan.limits = {"one run: its wall time has no spread"};
    return plan;
  }
  plan.artifacts = {"samples.jsonl", "metrics.json",  "texts.jsonl",
                    "inputs.json",   "workload.json", "log"};
  if (setup.settings.device.kind == settings::Device::Kind::Cuda) {
    plan.artifacts.emplace_back("gpu.jsonl");
  }
  return plan;
}

Result<void> BaselineStage::run(const pipeline::StageContext& context,
                                pipeline::StageRun& run) const {
  const pipeline::StagePlan planned = plan(context);
  if (!is_users_command(context)) {
    PL_TRY(run_commands(planned, run));
    return {};
  }
  ProcessWatch watch;
  const pipeline::PlannedCommand& command = planned.commands.front();
  const Exit exit = PL_TRY(run.execute(command, &watch));
  const bool is_ours = exit.why == Exit::Why::TimedOut || exit.why == Exit::Why::Cancelled;
  if (!exit.succeeded() && !is_ours) run.tell(child_problem(command, exit));
  return write_file_atomic(context.setup.stage_folder(id()) / "process.json",
                           PL_TRY(write_json(process_document(exit, watch.processes()))));
}

std::vector<Finding> BaselineStage::verify(const pipeline::StageContext& context) const {
  const std::filesystem::path folder = context.setup.stage_folder(id());
  if (is_users_command(context)) return pipeline::missing_files(folder, {"process.json"});
  std::vector<Finding> findings = pipeline::workload_remarks(folder);
  for (Finding& missing : pipeline::missing_files(folder, {"samples.jsonl", "metrics.json"})) {
    findings.push_back(std::move(missing));
  }
  const auto text = read_file(folder / "samples.jsonl");
  if (!text) return findings;
  const auto samples = parse_samples(*text, "samples.jsonl");
  if (!samples) {
    findings.push_back({Severity::Problem, "samples", samples.error().to_string()});
  }
  return findings;
}

Result<void> BaselineStage::summarise(const pipeline::StageContext& /*context*/,
                                      pipeline::StageRun& /*run*/) const {
  return {};  // the workload writes metrics.json itself
}

}  // namespace profline::stages
