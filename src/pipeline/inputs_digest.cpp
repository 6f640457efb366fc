#include "pipeline/inputs_digest.h"

#include <algorithm>
#include <chrono>

#include "base/sha256.h"
#include "formats/json_write.h"
#include "formats/node_redaction.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;

void add(NodeMap& out, const Node& config, const std::string& key) {
  if (const Node* value = config.find_path(key)) out.set(key, *value);
}

/// Of the stage's own settings: neither whether nor how long it may run changes its result.
Node own_settings(const Node& config, const std::string& stage) {
  const Node* settings = config.find_path("pipeline." + stage);
  if (settings == nullptr || !settings->is_map()) return Node();
  Node own = *settings;
  for (const char* key : {"enable", "enabled", "timeout"}) own.as_map().erase(key);
  return own;
}

Node texts(const std::vector<std::string>& words) {
  Node list = Node::list();
  for (const std::string& word : words) {
    // How much it says is no matter.
    if (word != "--quiet" && word != "--verbose") list.as_list().push_back(Node::string(word));
  }
  return list;
}

Node commands(const StagePlan& plan) {
  Node list = Node::list();
  for (const PlannedCommand& planned : plan.commands) {
    NodeMap entry;
    entry.set("name", Node::string(planned.name));
    entry.set("argv", texts(planned.command.argv));
    NodeMap env;
    for (const auto& [name, value] : planned.command.env) env.set(name, Node::string(value));
    entry.set("env", Node::map(std::move(env)));
    entry.set("cwd", Node::string(planned.command.cwd.string()));
    list.as_list().push_back(Node::map(std::move(entry)));
  }
  return list;
}

Node model_files(const RunPlan& plan) {
  Node list = Node::list();
  const Node* path = plan.setup.config.find_path("model.path");
  if (path == nullptr || !path->is_string()) return list;
  std::vector<std::string> rows;
  std::error_code failure;
  for (fs::directory_iterator at(plan.setup.cwd / path->as_string(), failure), end;
       !failure && at != end; at.increment(failure)) {
    std::error_code gone;
    if (!at->is_regular_file(gone)) continue;
    const auto changed = at->last_write_time(gone).time_since_epoch();
    rows.push_back(at->path().filename().string() + " " + std::to_string(at->file_size(gone)) +
                   " " + std::to_string(changed.count()));
  }
  std::sort(rows.begin(), rows.end());
  for (std::string& row : rows) list.as_list().push_back(Node::string(std::move(row)));
  return list;
}

}  // namespace

std::string inputs_digest(const PlannedStage& planned, const RunPlan& plan) {
  const Node& config = plan.setup.config;
  const std::string stage(planned.stage->id());
  NodeMap document;
  for (const char* key :
       {"device", "use_flash_attn", "model", "infer", "dataset", "pipeline.workload"}) {
    add(document, config, key);
  }
  document.set("stage", Node::string(stage));
  document.set("settings", own_settings(config, stage));
  if (planned.stage->is_measured_against_baseline()) {
    document.set("warm-up", own_settings(config, "baseline"));
  }
  document.set("commands", commands(planned.plan));
  document.set("model_files", model_files(plan));
  const auto add_version = [&](const char* tool, const auto& found) {
    if (found && *found) document.set(tool, Node::string(found->value().version.to_string()));
  };
  const Stage::Needs needs = planned.stage->needs(plan.setup.settings);
  if (needs.nsys) add_version("nsys", plan.tools.nsys);
  if (needs.ncu) add_version("ncu", plan.tools.ncu);
  // Without secrets: one that was renewed is no other input, and a digest of one could be guessed.
  const Node inputs = redacted(Node::map(std::move(document)), plan.setup.redactor);
  const auto text =
      write_json(inputs, {.indent = 0, .bytes_as_base64 = true, .scalar_keys_as_text = true});
  return sha256_hex(text ? *text : text.error().to_string());
}

}  // namespace profline::pipeline
