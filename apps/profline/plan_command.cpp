#include "plan_command.h"

#include "config_command.h"
#include "plan_print.h"
#include "run_preparation.h"
#include "standard_streams.h"

namespace profline {
namespace {

/// One wish for each job; without --multirun that is one.
Result<std::vector<RunWish>> wishes_of(const Invocation& invocation) {
  RunWish wish;
  wish.choice = config_choice(invocation.arguments);
  wish.programs = program_choice(invocation.arguments);
  if (!invocation.arguments.has("--multirun")) return std::vector{wish};
  const auto multirun = PL_TRY(Configuration::compose(wish.choice, config::RunMode::Multirun));
  wish.sweep_folder = PL_TRY(pipeline::free_run_folder(PL_TRY(sweep_folder_wish(*multirun))));
  std::vector<RunWish> wishes;
  for (std::vector<std::string>& overrides : PL_TRY(expand_jobs(*multirun))) {
    wish.job = wishes.size();
    wish.choice.overrides = std::move(overrides);
    wishes.push_back(wish);
  }
  return wishes;
}

}  // namespace

std::vector<Option> PlanVerb::options() const {
  using Takes = Option::Takes;
  std::vector<Option> options = config_choice_options();
  for (Option& option : run_options()) options.push_back(std::move(option));
  options.push_back({"--multirun", "-m", Takes::Nothing, "",
                     "one job for each combination of the values that sweeps name"});
  options.push_back({"--dry-run", "", Takes::Nothing, "", "only plan, which this command does"});
  for (Option& option : config_showing_options()) options.push_back(std::move(option));
  return options;
}

Result<ExitCode> PlanVerb::run(const Services& services, const Invocation& invocation) const {
  for (const char* option : {"--package", "--resolve"}) {
    if (!invocation.arguments.has(option)) continue;
    return Error(ErrorKind::Config,
                 std::string(option) + " is for showing the config: add --cfg job")
        .with_reason("usage");
  }
  std::vector<PreparedRun> runs;
  for (const RunWish& wish : PL_TRY(wishes_of(invocation))) {
    runs.push_back(PL_TRY(prepare_run(wish, Making::Nothing, services, invocation.output)));
  }
  std::vector<PlannedJob> jobs;
  jobs.reserve(runs.size());
  for (const PreparedRun& run : runs) jobs.push_back({run.overrides, run.plan});
  const std::string text = invocation.output.format == OutputFormat::Json
                               ? PL_TRY(plan_json(jobs))
                               : plan_text(jobs, invocation.arguments.has("--multirun"));
  PL_TRY(print_result(text));
  return ExitCode::Done;
}

}  // namespace profline
