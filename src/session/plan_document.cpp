#include "session/plan_document.h"

#include "schema/read.h"
#include "session/config_keys.h"

namespace profline::session {
namespace {

using pipeline::PlannedStage;
using pipeline::RunPlan;

constexpr std::string_view kSharedKeys[] = {"experiment",
                                            "device",
                                            "pipeline.workload.kind",
                                            "pipeline.workload.command",
                                            "model.name",
                                            "model.path",
                                            "model.dtype",
                                            "infer.max_new_tokens",
                                            "dataset.name",
                                            "dataset.root",
                                            "dataset.sampling.num_samples_per_epoch",
                                            "dataset.sampling.num_epochs"};

/// The settings of a stage, by full key.
NodeMap stage_settings(const PlannedStage& stage, const Node& config) {
  NodeMap settings;
  const std::string prefix = "pipeline." + std::string(stage.stage->id());
  const Node* own = config.find_path(prefix);
  if (own == nullptr || !stage.is_on()) return settings;
  for_each_key(*own, [&](const std::string& key, const Node& value) {
    if (!value.is_map() && key != "enable") settings.set(prefix + "." + key, value);
  });
  return settings;
}

Node texts(const std::vector<std::string>& words) {
  Node list = Node::list();
  for (const std::string& word : words) list.as_list().push_back(Node::string(word));
  return list;
}

template <typename Row>
Node rows(const std::vector<Row>& items) {
  Node list = Node::list();
  for (const Row& item : items) list.as_list().push_back(schema::write(item));
  return list;
}

Node command_json(const pipeline::PlannedCommand& planned) {
  const Command& command = planned.command;
  NodeMap entry;
  entry.set("name", Node::string(planned.name));
  entry.set("condition", Node::string(planned.condition));
  entry.set("argv", texts(command.argv));
  NodeMap env;
  for (const auto& [name, value] : command.env) env.set(name, Node::string(value));
  entry.set("env", Node::map(std::move(env)));
  entry.set("unset_env", texts(command.unset_env));
  entry.set("cwd", Node::string(command.cwd.string()));
  entry.set("log", Node::string(command.log.string()));
  entry.set("display", Node::string(display(command)));
  return Node::map(std::move(entry));
}

Node stage_json(const PlannedStage& stage, const Node& config) {
  NodeMap entry;
  entry.set("name", Node::string(std::string(stage.stage->id())));
  entry.set("state", Node::string(std::string(state_text(stage))));
  entry.set("why", Node::string(stage.why));
  entry.set("settings", Node::map(stage_settings(stage, config)));
  Node commands = Node::list();
  for (const auto& planned : stage.plan.commands) {
    commands.as_list().push_back(command_json(planned));
  }
  entry.set("commands", std::move(commands));
  entry.set("artifacts", texts(stage.plan.artifacts));
  std::vector<ChangeRecord> changes;
  changes.reserve(stage.plan.changes.size());
  for (const pipeline::ConfigChange& change : stage.plan.changes) {
    changes.push_back({change.key, change.value, change.why});
  }
  entry.set("changes", rows(changes));
  entry.set("limits", texts(stage.plan.limits));
  entry.set("notes", texts(stage.plan.notes));
  entry.set("findings", rows(stage.findings));
  return Node::map(std::move(entry));
}

Node job_json(const PlannedJob& job) {
  const RunPlan& plan = job.plan;
  NodeMap out;
  out.set("overrides", texts(job.overrides));
  out.set("run_dir", Node::string(plan.setup.folder.string()));
  out.set("settings", Node::map(shared_settings(plan.setup.config)));
  out.set("findings", rows(plan.findings));
  Node stages = Node::list();
  for (const PlannedStage& stage : plan.stages) {
    stages.as_list().push_back(stage_json(stage, plan.setup.config));
  }
  out.set("stages", std::move(stages));
  return Node::map(std::move(out));
}

}  // namespace

std::vector<PlannedJob> planned_jobs(const std::vector<PreparedRun>& runs) {
  std::vector<PlannedJob> jobs;
  jobs.reserve(runs.size());
  for (const PreparedRun& run : runs) {
    jobs.push_back({run.plan.setup.redactor.words(run.overrides), redacted(run.plan)});
  }
  return jobs;
}

NodeMap shared_settings(const Node& config) {
  NodeMap settings;
  for (const std::string_view key : kSharedKeys) {
    if (const Node* value = config.find_path(key)) settings.set(std::string(key), *value);
  }
  return settings;
}

std::string_view state_text(const PlannedStage& stage) {
  return stage.is_on() ? "on" : to_text(stage.state);
}

Node plan_document(const std::vector<PlannedJob>& jobs, const std::string& script) {
  NodeMap document;
  document.set("schema", Node::string("profline.plan/1"));
  Node list = Node::list();
  for (const PlannedJob& job : jobs) list.as_list().push_back(job_json(job));
  document.set("jobs", std::move(list));
  if (!script.empty()) document.set("script", Node::string(script));
  return Node::map(std::move(document));
}

}  // namespace profline::session
