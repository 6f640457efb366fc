#include <algorithm>

#include <fmt/core.h>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "pipeline/plan.h"
#include "schema/docs.h"
#include "schema/read.h"
#include "session/plan_document.h"
#include "session/sweep.h"
#include "standard_streams.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

using pipeline::Finding;
using pipeline::PlannedStage;
using pipeline::RunPlan;
using session::PlannedJob;

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
                                 settings_text(session::shared_settings(config)));
  for (const Finding& finding : plan.findings) text += finding_text(finding);
  text += "\n";
  for (const PlannedStage& stage : plan.stages) {
    text += fmt::format("{:<16}  {:<7}  {}\n", stage.stage->id(), session::state_text(stage),
                        printable(stage.why));
  }
  for (const PlannedStage& stage : plan.stages) {
    if (stage.state != StageState::Off) text += stage_text(stage);
  }
  return text;
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

Result<session::Jobs> jobs_asked_for(const Services& services, const Invocation& invocation) {
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
  session::Jobs asked = PL_TRY(jobs_asked_for(services, invocation));
  const auto runs = PL_TRY(session::plan_jobs(asked, services));
  const std::vector<PlannedJob> jobs = session::planned_jobs(runs);
  const std::string script = PL_TRY(session::script_of(asked));
  std::string text =
      invocation.output.format == OutputFormat::Json
          ? PL_TRY(write_json(session::plan_document(jobs, script),
                              {.bytes_as_base64 = true, .scalar_keys_as_text = true}))
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
