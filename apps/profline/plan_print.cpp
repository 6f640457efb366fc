#include "plan_print.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "config_keys.h"
#include "formats/json_write.h"
#include "schema/read.h"
#include "schema/value_text.h"
#include "sweep.h"

namespace profline {
namespace {

using pipeline::Finding;
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

/// What all stages share, by whole key.
NodeMap shared_settings(const Node& config) {
  NodeMap settings;
  for (const std::string_view key : kSharedKeys) {
    if (const Node* value = config.find_path(key)) settings.set(std::string(key), *value);
  }
  return settings;
}

/// What a stage is told, by whole key.
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

std::string_view state_text(const PlannedStage& stage) {
  return stage.is_on() ? "on" : to_text(stage.state);
}

std::string settings_text(const NodeMap& settings) {
  std::size_t width = 0;
  for (const auto& entry : settings) width = std::max(width, entry.key.as_string().size());
  std::string text;
  for (const auto& entry : settings) {
    if (entry.value.is_null()) continue;
    text += fmt::format("  {}  {}\n", pad_width(entry.key.as_string(), width),
                        printable(schema::value_text(entry.value)));
  }
  return text;
}

std::string finding_text(const Finding& finding) {
  std::string text =
      fmt::format("  {}: {}", schema::name_of(finding.severity), printable(finding.text));
  if (!finding.fix.empty()) text += "; " + printable(finding.fix);
  return text + "\n";
}

std::string stage_text(const PlannedStage& stage) {
  std::string text = fmt::format("\n{}\n", stage.stage->id());
  for (const pipeline::PlannedCommand& planned : stage.plan.commands) {
    const std::string when = planned.condition.empty() ? "" : ", " + planned.condition;
    text +=
        fmt::format("  {}{}:\n    $ {}\n", planned.name, when, printable(display(planned.command)));
  }
  if (!stage.plan.artifacts.empty()) {
    text += fmt::format("  writes {}\n", printable(join(stage.plan.artifacts, ", ")));
  }
  for (const pipeline::ConfigChange& change : stage.plan.changes) {
    text += fmt::format("  changes {} to {}: {}\n", printable(change.key),
                        printable(schema::value_text(change.value)), printable(change.why));
  }
  for (const std::string& limit : stage.plan.limits) {
    text += fmt::format("  limited to {}\n", printable(limit));
  }
  for (const std::string& note : stage.plan.notes) {
    text += fmt::format("  note: {}\n", printable(note));
  }
  for (const Finding& finding : stage.findings) text += finding_text(finding);
  return text;
}

std::string job_text(const RunPlan& plan) {
  const Node& config = plan.setup.config;
  std::string text = fmt::format("run directory: {}\n{}", printable(plan.setup.folder.string()),
                                 settings_text(shared_settings(config)));
  for (const Finding& finding : plan.findings) text += finding_text(finding);
  text += "\n";
  for (const PlannedStage& stage : plan.stages) {
    text += fmt::format("{:<16}  {:<7}  {}\n", stage.stage->id(), state_text(stage),
                        printable(stage.why));
  }
  for (const PlannedStage& stage : plan.stages) {
    if (stage.state != StageState::Off) text += stage_text(stage);
  }
  return text;
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

std::string plan_text(const std::vector<PlannedJob>& jobs, bool is_multirun) {
  std::string text;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (is_multirun) {
      text += (i == 0 ? "" : "\n") + job_line(i, jobs[i].overrides) + "\n";
    }
    text += job_text(jobs[i].plan);
  }
  return text;
}

Result<std::string> plan_json(const std::vector<PlannedJob>& jobs) {
  NodeMap document;
  document.set("schema", Node::string("profline.plan/1"));
  Node list = Node::list();
  for (const PlannedJob& job : jobs) list.as_list().push_back(job_json(job));
  document.set("jobs", std::move(list));
  return write_json(Node::map(std::move(document)),
                    {.bytes_as_base64 = true, .scalar_keys_as_text = true});
}

}  // namespace profline
