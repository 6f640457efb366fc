#include "pipeline/run_inputs.h"

#include <algorithm>
#include <chrono>

#include "base/digests.h"
#include "base/files.h"
#include "formats/json.h"
#include "formats/node.h"
#include "formats/yaml.h"
#include "run/artifacts.h"
#include "schema/read.h"

namespace profline::pipeline {
namespace {

namespace fs = std::filesystem;

/// The arguments of a user's command that are files.
Node files_of_command(const RunSetup& setup, const std::vector<std::string>& argv) {
  Node files = Node::list();
  const fs::path cwd = setup.cwd / setup.settings.pipeline.workload.cwd;
  for (const std::string& word : argv) {
    std::error_code failure;
    const fs::path file = (cwd / word).lexically_normal();
    if (word.empty() || !fs::is_regular_file(file, failure)) continue;
    const auto digest = sha256_file(file);
    if (!digest) continue;
    NodeMap entry;
    entry.set("path", Node::string(file.string()));
    entry.set("bytes", Node::integer(static_cast<std::int64_t>(fs::file_size(file, failure))));
    entry.set("sha256", Node::string(*digest));
    files.as_list().push_back(Node::map(std::move(entry)));
  }
  return files;
}

/// `shown` is the command without its secrets.
Node inputs_of_command(const RunSetup& setup, const std::vector<std::string>& argv,
                       const std::vector<std::string>& shown) {
  NodeMap document;
  document.set("schema", Node::string("profline.inputs/1"));
  Node words = Node::list();
  for (const std::string& word : shown) words.as_list().push_back(Node::string(word));
  document.set("command", std::move(words));
  document.set("files", files_of_command(setup, argv));
  return Node::map(std::move(document));
}

std::string digest_now(const Node& entry) {
  const Node* path = entry.find("path");
  if (path == nullptr || !path->is_string()) return {};
  return sha256_file(path->as_string()).value_or("gone");
}

const char* const kLists[] = {"images", "files"};

void add(NodeMap& out, const Node& config, const std::string& key) {
  if (const Node* value = config.find_path(key)) out.set(key, *value);
}

/// From the stage's own settings: whether it runs and its timeout do not change its result.
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
    // Verbosity does not matter.
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

Result<void> write_inputs(run::RunJournal& journal, const RunSetup& setup, const run::Run& files,
                          std::string_view stage) {
  if (const auto argv = setup.settings.pipeline.workload.user_command()) {
    const std::vector<std::string> words = setup.redactor.words(*argv);
    journal.defer(run::files::kInputs, write_yaml(inputs_of_command(setup, *argv, words)));
    return {};
  }
  const run::Artifact<Node>& inputs = run::workload_inputs(files, stage);
  if (!inputs.is_there) return {};
  if (!inputs) return Error(ErrorKind::Parse, inputs.why_not);
  journal.defer(run::files::kInputs, write_yaml(*inputs));
  return {};
}

std::vector<std::string> changed_inputs(const run::Run& run) {
  std::vector<std::string> changed;
  const auto& inputs = run.get(run::kInputs);
  if (!inputs.is_there) return changed;
  if (!inputs) return {inputs.why_not};
  for (const char* list : kLists) {
    const Node* entries = inputs->find(list);
    if (entries == nullptr || !entries->is_list()) continue;
    for (const Node& entry : entries->as_list()) {
      const std::string now = digest_now(entry);
      const Node* before = entry.find("sha256");
      if (now.empty() || before == nullptr || !before->is_string()) continue;
      if (now != before->as_string()) changed.push_back(entry.find("path")->as_string());
    }
  }
  return changed;
}

std::string inputs_digest(const PlannedStage& planned, const RunPlan& plan) {
  const Node& config = plan.setup.config;
  const std::string stage(planned.stage->id());
  NodeMap document;
  for (const char* key : run::kWorkloadKeys) add(document, config, key);
  document.set("stage", Node::string(stage));
  document.set("settings", own_settings(config, stage));
  if (planned.stage->is_measured_against_baseline()) {
    document.set("warm-up", own_settings(config, "baseline"));
  }
  document.set("commands", commands(planned.plan));
  const settings::KernelClasses& classes = plan.setup.kernel_classes;
  if (planned.stage->classifies_kernels() && !classes.rules.empty()) {
    document.set("kernel_classes", schema::write(classes));
  }
  document.set("model_files", model_files(plan));
  const auto add_version = [&](const char* tool, const auto& found) {
    if (found && *found) document.set(tool, Node::string(found->value().version.to_string()));
  };
  const Stage::Needs needs = planned.stage->needs(plan.setup.settings);
  if (needs.nsys) add_version("nsys", plan.tools.nsys);
  if (needs.ncu) add_version("ncu", plan.tools.ncu);
  // Without secrets: a renewed secret is not a different input, and a secret could be guessed from
  // its digest.
  const Node inputs = redacted(Node::map(std::move(document)), plan.setup.redactor);
  const auto text =
      write_json(inputs, {.indent = 0, .bytes_as_base64 = true, .scalar_keys_as_text = true});
  return sha256_hex(text ? *text : text.error().to_string());
}

}  // namespace profline::pipeline
