#include "plan_command.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "config/search_path.h"
#include "config/sweep.h"
#include "config_command.h"
#include "configuration.h"
#include "formats/json_write.h"
#include "schema/value_text.h"
#include "stage_outline.h"

namespace profline {
namespace {

constexpr std::string_view kToCome =
    "the commands of the stages are not part of this version yet: this is what the config asks "
    "for, and nothing was run or looked for";

/// One job of the plan; a plan without --multirun has one.
struct JobOutline {
  std::vector<std::string> overrides;
  std::string run_dir;
  std::vector<Setting> shared;
  std::vector<StageOutline> stages;
};

Result<JobOutline> outline_job(const ConfigChoice& choice, const OutputOptions& output) {
  const auto configuration = PL_TRY(Configuration::compose(choice));
  const std::vector<Error> problems = configuration->problems();
  print_remarks(*configuration, output);
  if (!problems.empty()) return Error::all(problems);
  const config::Composition& composition = configuration->composition();
  config::Resolution resolution(composition.config, configuration->context());
  const Node config = PL_TRY(resolution.resolve_all());
  config::Resolution with_hydra(composition.root, configuration->context());
  const auto run_dir = PL_TRY(with_hydra.select("hydra.run.dir"));

  JobOutline job;
  job.overrides = choice.overrides;
  if (run_dir && run_dir->is_string()) job.run_dir = run_dir->as_string();
  job.shared = shared_settings(config);
  job.stages = outline_stages(config, composition.origins);
  if (std::all_of(job.stages.begin(), job.stages.end(),
                  [](const StageOutline& stage) { return stage.state == StageState::Off; })) {
    return Error(ErrorKind::Config,
                 "no stage is on; switch one on, as in pipeline.static_analysis.enable=true")
        .with_reason("no_stage");
  }
  return job;
}

/// The overrides of each job that the sweeps stand for.
Result<std::vector<config::Job>> expand_jobs(const ConfigChoice& choice) {
  const auto configuration = PL_TRY(Configuration::compose(choice, config::RunMode::Multirun));
  const config::ConfigRepository repository(configuration->composition().search_path,
                                            configuration->context());
  config::SweepServices services;
  services.group_options =
      [&repository](const std::string& group) -> Result<std::vector<std::string>> {
    return repository.options_of(group);
  };
  const std::vector<config::Batch> batches =
      PL_TRY(config::expand_sweeps(configuration->composition().overrides, std::nullopt, services));
  std::vector<config::Job> jobs;
  for (const config::Batch& batch : batches) jobs.insert(jobs.end(), batch.begin(), batch.end());
  return jobs;
}

std::string settings_text(const std::vector<Setting>& settings) {
  std::size_t width = 0;
  for (const Setting& setting : settings) width = std::max(width, setting.key.size());
  std::string text;
  for (const Setting& setting : settings) {
    text += fmt::format("  {}  {}\n", pad_width(setting.key, width),
                        printable(schema::value_text(setting.value)));
  }
  return text;
}

std::string job_text(const JobOutline& job) {
  std::string text =
      fmt::format("run directory: {}\n{}\n", printable(job.run_dir), settings_text(job.shared));
  for (const StageOutline& stage : job.stages) {
    text +=
        fmt::format("{:<16}  {:<4}  {}\n", stage.name, to_text(stage.state), printable(stage.why));
  }
  for (const StageOutline& stage : job.stages) {
    if (!stage.settings.empty()) {
      text += fmt::format("\n{}\n{}", stage.name, settings_text(stage.settings));
    }
  }
  return text;
}

std::string plan_text(const std::vector<JobOutline>& jobs, bool is_multirun) {
  std::string text;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (is_multirun) {
      text += fmt::format("{}job {}: {}\n", i == 0 ? "" : "\n", i, join(jobs[i].overrides, " "));
    }
    text += job_text(jobs[i]);
  }
  return fmt::format("{}\n{}\n", text, kToCome);
}

Node settings_json(const std::vector<Setting>& settings) {
  NodeMap map;
  for (const Setting& setting : settings) map.set(setting.key, setting.value);
  return Node::map(std::move(map));
}

Node job_json(const JobOutline& job) {
  NodeMap out;
  Node overrides = Node::list();
  for (const std::string& text : job.overrides) overrides.as_list().push_back(Node::string(text));
  out.set("overrides", std::move(overrides));
  out.set("run_dir", Node::string(job.run_dir));
  out.set("settings", settings_json(job.shared));
  Node stages = Node::list();
  for (const StageOutline& stage : job.stages) {
    NodeMap entry;
    entry.set("name", Node::string(stage.name));
    entry.set("state", Node::string(std::string(to_text(stage.state))));
    entry.set("why", Node::string(stage.why));
    entry.set("settings", settings_json(stage.settings));
    stages.as_list().push_back(Node::map(std::move(entry)));
  }
  out.set("stages", std::move(stages));
  return Node::map(std::move(out));
}

Result<std::string> plan_json(const std::vector<JobOutline>& jobs) {
  NodeMap document;
  document.set("schema", Node::string("profline.plan/1"));
  Node list = Node::list();
  for (const JobOutline& job : jobs) list.as_list().push_back(job_json(job));
  document.set("jobs", std::move(list));
  return write_json(Node::map(std::move(document)),
                    {.bytes_as_base64 = true, .scalar_keys_as_text = true});
}

}  // namespace

std::vector<Option> PlanVerb::options() const {
  using Takes = Option::Takes;
  std::vector<Option> options = config_choice_options();
  options.push_back({"--multirun", "-m", Takes::Nothing, "",
                     "one job for each combination of the values that sweeps name"});
  options.push_back({"--dry-run", "", Takes::Nothing, "", "only plan, which this command does"});
  for (Option& option : config_showing_options()) options.push_back(std::move(option));
  return options;
}

Result<ExitCode> PlanVerb::run(const Services& /*services*/, const Invocation& invocation) const {
  for (const char* option : {"--package", "--resolve"}) {
    if (!invocation.arguments.has(option)) continue;
    return Error(ErrorKind::Config,
                 std::string(option) + " is for showing the config: add --cfg job")
        .with_reason("usage");
  }
  ConfigChoice choice = config_choice(invocation.arguments);
  const bool is_multirun = invocation.arguments.has("--multirun");
  std::vector<config::Job> jobs = {choice.overrides};
  if (is_multirun) jobs = PL_TRY(expand_jobs(choice));
  std::vector<JobOutline> outlines;
  for (config::Job& overrides : jobs) {
    choice.overrides = std::move(overrides);
    outlines.push_back(PL_TRY(outline_job(choice, invocation.output)));
  }
  const std::string text = invocation.output.format == OutputFormat::Json
                               ? PL_TRY(plan_json(outlines))
                               : plan_text(outlines, is_multirun);
  fmt::print("{}", text);
  return ExitCode::Done;
}

}  // namespace profline
