#include <algorithm>

#include <fmt/core.h>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "pipeline/plan.h"
#include "schema/docs.h"
#include "schema/read.h"
#include "session/config_keys.h"
#include "session/sweep.h"
#include "standard_streams.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

using pipeline::Finding;
using pipeline::PlannedStage;
using pipeline::RunPlan;

/// One job of a plan, without secrets; a plan without --multirun has one.
struct PlannedJob {
  std::vector<std::string> overrides;
  pipeline::RunPlan plan;
};

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

/// The settings that all stages share, by full key.
NodeMap shared_settings(const Node& config) {
  NodeMap settings;
  for (const std::string_view key : kSharedKeys) {
    if (const Node* value = config.find_path(key)) settings.set(std::string(key), *value);
  }
  return settings;
}

/// The settings of a stage, by full key.
NodeMap stage_settings(const PlannedStage& stage, const Node& config) {
  NodeMap settings;
  const std::string prefix = "pipeline." + std::string(stage.stage->id());
  const Node* own = config.find_path(prefix);
  if (own == nullptr || !stage.is_on()) return settings;
  session::for_each_key(*own, [&](const std::string& key, const Node& value) {
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

/// Each stage with its commands, changes, limits and preflight findings, as text.
std::string plan_text(const std::vector<PlannedJob>& jobs, bool is_multirun) {
  std::string text;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (is_multirun) {
      text += (i == 0 ? "" : "\n") + session::job_line(i, jobs[i].overrides) + "\n";
    }
    text += job_text(jobs[i].plan);
  }
  return text;
}

/// docs/formats/plan.md
Result<std::string> plan_json(const std::vector<PlannedJob>& jobs, const std::string& script) {
  NodeMap document;
  document.set("schema", Node::string("profline.plan/1"));
  Node list = Node::list();
  for (const PlannedJob& job : jobs) list.as_list().push_back(job_json(job));
  document.set("jobs", std::move(list));
  if (!script.empty()) document.set("script", Node::string(script));
  return write_json(Node::map(std::move(document)),
                    {.bytes_as_base64 = true, .scalar_keys_as_text = true});
}

Result<session::Jobs> planned_jobs(const Services& services, const Invocation& invocation) {
  session::RunRequest request;
  request.choice = config_choice(invocation.arguments);
  request.programs = program_choice(invocation.arguments);
  return session::jobs_of(request, invocation.arguments.has("--multirun"), services.remarks);
}

/// `profline plan`: what a run with this configuration would do, stage by stage. Runs nothing.
class PlanVerb final : public Verb {
 public:
  std::string_view name() const override { return "plan"; }
  std::string_view summary() const override {
    return "show the enabled stages and the exact commands they would run";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline plan -- python3 infer.py", "show what profiling your program would run"},
        {"profline plan pipeline.nsys.enable=true", "show what a run with Nsight Systems would do"},
        {"profline plan -cn demo --format json", "print the plan of the demo as JSON"},
    };
  }
  std::string_view words() const override { return "[OVERRIDES] [-- PROGRAM...]"; }
  bool takes_program() const override { return true; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> PlanVerb::options() const {
  using Takes = Option::Takes;
  std::vector<Option> options = config_choice_options();
  for (Option& option : run_options()) options.push_back(std::move(option));
  options.push_back(
      {"--multirun", "-m", Takes::Nothing, "", "one job per combination of the swept values"});
  options.push_back(
      {"--dry-run", "", Takes::Nothing, "", "no effect: this command never runs anything"});
  for (Option& option : config_showing_options()) options.push_back(std::move(option));
  return options;
}

Result<ExitCode> PlanVerb::run(const Services& services, const Invocation& invocation) const {
  PL_TRY(check_nothing_is_shown(invocation.arguments));
  session::Jobs asked = PL_TRY(planned_jobs(services, invocation));
  const auto runs = PL_TRY(session::plan_jobs(asked, services));
  std::vector<PlannedJob> jobs;
  jobs.reserve(runs.size());
  for (const session::PreparedRun& run : runs) {
    jobs.push_back({run.plan.setup.redactor.words(run.overrides), redacted(run.plan)});
  }
  const std::string script = PL_TRY(session::script_of(asked));
  std::string text = invocation.output.format == OutputFormat::Json
                         ? PL_TRY(plan_json(jobs, script))
                         : for_terminal(plan_text(jobs, asked.sweep.has_value()));
  if (invocation.output.format == OutputFormat::Text && !script.empty()) {
    text += "\nbatch script:\n" + printable_lines(script);
  }
  PL_TRY(print_result(text));
  return ExitCode::Done;
}

std::unique_ptr<Verb> plan_verb() {
  return std::make_unique<PlanVerb>();
}

}  // namespace profline
