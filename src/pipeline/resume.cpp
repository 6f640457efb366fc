#include "pipeline/resume.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/digests.h"
#include "base/files.h"
#include "base/redaction.h"
#include "base/strings.h"
#include "formats/json.h"
#include "formats/node.h"
#include "formats/yaml.h"
#include "pipeline/executor.h"
#include "run/artifacts.h"
#include "run/names/artifact_names.h"
#include "run/run_folder.h"
#include "schema/read.h"
#include "tools/nsys/commands.h"

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

using namespace std::chrono_literals;

/// SIGTERM, five seconds, SIGKILL; to the whole group if the process leads one, as our children do.
void end_process(const ProcessRecord& process) {
  const auto pid = static_cast<pid_t>(process.pid);
  const pid_t target = ::getpgid(pid) == pid ? -pid : pid;
  for (const int signal : {SIGTERM, SIGKILL}) {
    if (!run::is_alive(process)) return;
    ::kill(target, signal);
    for (auto waited = 0ms; run::is_alive(process) && waited < 5s; waited += 20ms) {
      std::this_thread::sleep_for(20ms);
    }
  }
}

void end_session(const std::string& name, const Toolbox& tools, ProcessRunner& processes,
                 std::vector<std::string>& ended) {
  if (!tools.nsys || !*tools.nsys) {
    ended.push_back("nsys session " + name +
                    " may still be running: there is no nsys here to end it");
    return;
  }
  Command command = nsys::shutdown_command(tools.nsys->value().program, name);
  if (!command.timeout) command.timeout = 20s;
  const auto exit = processes.run(command);
  if (exit && exit->succeeded()) ended.push_back("ended nsys session " + name);
}

/// `db.password` from `+db.password=x`.
std::string_view key_of(std::string_view given) {
  given.remove_prefix(std::min(given.find_first_not_of("+~"), given.size()));
  return given.substr(0, given.find('='));
}

/// Whether the stage, or a command of it, reads files that the baseline writes.
bool reads_baseline(const PlannedStage& stage, const RunPlan& plan) {
  if (stage.stage->reads_baseline(plan.setup.settings)) return true;
  const std::string folder = plan.setup.stage_folder(run::stages::kBaseline).string();
  for (const PlannedCommand& planned : stage.plan.commands) {
    const auto& argv = planned.command.argv;
    if (stage.stage->id() != run::stages::kBaseline &&
        std::find(argv.begin(), argv.end(), folder) != argv.end()) {
      return true;
    }
  }
  return false;
}

ResumeDecision decide(const PlannedStage& planned, const RunPlan& plan, const RunRecord& before,
                      bool inputs_changed) {
  const std::string name(planned.stage->id());
  const StageRecord* old = before.find_stage(name);
  if (!planned.is_on()) return {name, false, planned.why};
  if (old == nullptr || old->state == StageState::Off || old->state == StageState::Skipped) {
    return {name, true, "it was not part of the run"};
  }
  if (old->state != StageState::Ok) {
    return {name, true, "it is " + std::string(to_text(old->state))};
  }
  if (inputs_digest(planned, plan) != old->inputs_digest) {
    return {name, true, "its config, command or tool changed"};
  }
  if (inputs_changed) return {name, true, "its inputs changed"};
  return {name, false, "it is ok and its inputs are the same"};
}

Result<void> move_away(const fs::path& run, const std::string& stage) {
  std::error_code failure;
  const fs::path folder = run / stage;
  if (!fs::exists(folder, failure)) return {};
  PL_TRY(create_folders(run / run::folders::kAttempts));
  int n = 1;
  const auto target = [&] {
    return run / run::folders::kAttempts / (stage + "-" + std::to_string(n));
  };
  while (fs::exists(target(), failure)) ++n;
  fs::rename(folder, target(), failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot move " + folder.string() + " to " + target().string() +
                                    ": " + failure.message());
  }
  return {};
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

std::vector<std::string> end_leftovers(const RunRecord& record, const Toolbox& tools,
                                       ProcessRunner& processes) {
  std::vector<std::string> ended;
  const bool is_here = record.boot_id == run::boot_id() && record.host == run::host_name();
  for (const StageRecord& stage : record.stages) {
    for (const CommandRecord& command : stage.commands) {
      if (!is_here || !command.end.empty() || !run::is_alive(command.process)) continue;
      end_process(command.process);
      ended.push_back("ended " + command.name + " of stage " + stage.name + " (pid " +
                      std::to_string(command.process.pid) + ")");
    }
    const bool may_run = stage.state == StageState::Running && is_here;
    for (const std::string& session : stage.sessions) {
      if (may_run) end_session(session, tools, processes, ended);
    }
  }
  return ended;
}

std::vector<ResumeDecision> decide_resume(const RunPlan& plan, const RunRecord& before,
                                          bool inputs_changed) {
  std::vector<ResumeDecision> decisions;
  bool baseline_runs = false;
  for (const PlannedStage& planned : plan.stages) {
    ResumeDecision decision = decide(planned, plan, before, inputs_changed);
    if (decision.stage == run::stages::kBaseline) baseline_runs = decision.runs;
    if (planned.is_on() && !decision.runs && baseline_runs && reads_baseline(planned, plan)) {
      decision = {decision.stage, true, "it reads files of the baseline, which runs again"};
    }
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

Result<std::vector<std::string>> resumed_overrides(const std::vector<std::string>& before,
                                                   std::vector<std::string> now) {
  std::vector<std::string> overrides;
  std::vector<Error> missing;
  for (const std::string& given : before) {
    if (given.find(kRedacted) == std::string::npos) {
      overrides.push_back(given);
      continue;
    }
    const auto again = std::find_if(now.begin(), now.end(), [&](const std::string& other) {
      return key_of(other) == key_of(given);
    });
    if (again == now.end()) {
      missing.push_back(Error(ErrorKind::Config,
                              "the run's files do not have the value of '" + given +
                                  "', which looked like a secret; give it again: --resume RUN " +
                                  std::string(key_of(given)) + "=VALUE")
                            .with_reason("override_redacted"));
      continue;
    }
    overrides.push_back(std::move(*again));
    now.erase(again);
  }
  if (!missing.empty()) return Error::all(missing);
  overrides.insert(overrides.end(), now.begin(), now.end());
  return overrides;
}

std::optional<Error> lost_stages(const RunPlan& plan, const RunRecord& before) {
  std::vector<Error> lost;
  for (const PlannedStage& planned : plan.stages) {
    const std::string name(planned.stage->id());
    const StageRecord* old = before.find_stage(name);
    const bool was_on = old != nullptr && old->state != StageState::Off &&
                        old->state != StageState::Skipped && old->state != StageState::Ok;
    if (!was_on || planned.state != StageState::Skipped) continue;
    for (const Finding& finding : planned.findings) {
      if (finding.severity != Severity::Problem) continue;
      std::string text =
          "stage " + name + " is part of this run and cannot run now: " + finding.text;
      if (!finding.fix.empty()) text += "; " + finding.fix;
      text += "; to leave it out: pipeline." + name + ".enable=false";
      lost.push_back(Error(finding.kind, std::move(text)).with_reason("stage_lost"));
    }
  }
  if (lost.empty()) return std::nullopt;
  return Error::all(lost);
}

std::string nothing_to_run(const RunPlan& plan) {
  std::vector<std::string> skipped;
  for (const PlannedStage& planned : plan.stages) {
    if (planned.state == StageState::Skipped) skipped.emplace_back(planned.stage->id());
  }
  if (skipped.empty()) {
    return "nothing is left to run: every stage is ok and its inputs are the same";
  }
  return "nothing is left to run: " + join(skipped, ", ") + (skipped.size() == 1 ? " is" : " are") +
         " skipped as before; every other stage is ok and its inputs are the same";
}

Result<void> enter_resumed(const RunPlan& plan, const std::vector<ResumeDecision>& decisions,
                           RunRecord& record) {
  RunRecord fresh;
  enter_stages(plan, fresh);
  std::vector<StageRecord> stages;
  for (std::size_t i = 0; i < fresh.stages.size(); ++i) {
    const StageRecord* old = record.find_stage(fresh.stages[i].name);
    // A stage that is off now but was ok keeps its files.
    const bool is_good = old != nullptr && (plan.stages[i].is_on() || old->state == StageState::Ok);
    if (!decisions[i].runs && is_good) {
      stages.push_back(*old);
      continue;
    }
    if (decisions[i].runs) PL_TRY(move_away(plan.setup.folder, decisions[i].stage));
    stages.push_back(std::move(fresh.stages[i]));
  }
  record.stages = std::move(stages);
  return {};
}

}  // namespace profline::pipeline
