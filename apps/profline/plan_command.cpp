#include "plan_command.h"

#include "config_command.h"
#include "plan_print.h"
#include "standard_streams.h"
#include "sweep.h"
#include "text_table.h"

namespace profline {
namespace {

Result<Jobs> planned_jobs(const Invocation& invocation) {
  RunWish wish;
  wish.choice = config_choice(invocation.arguments);
  wish.programs = program_choice(invocation.arguments);
  Jobs jobs = PL_TRY(jobs_of(wish, invocation.arguments.has("--multirun"), invocation.output));
  if (jobs.sweep) jobs.lie_in(PL_TRY(pipeline::free_run_folder(*jobs.sweep)));
  return jobs;
}

Result<std::vector<PreparedRun>> prepared(const Jobs& jobs, const Services& services,
                                          const OutputOptions& output) {
  std::vector<PreparedRun> runs;
  JobProblems problems;
  for (const RunWish& wish : jobs.wishes) {
    auto run = prepare_run(wish, Making::Nothing, services, output);
    if (run) {
      runs.push_back(std::move(*run));
    } else if (wish.job && run.error().kind() != ErrorKind::Cancelled) {
      problems.add(*wish.job, run.error());
    } else {
      return run.error();
    }
    if (problems.are_enough()) break;
  }
  PL_TRY(problems.result());
  return runs;
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
  const Jobs asked = PL_TRY(planned_jobs(invocation));
  const std::vector<PreparedRun> runs = PL_TRY(prepared(asked, services, invocation.output));
  std::vector<PlannedJob> jobs;
  jobs.reserve(runs.size());
  for (const PreparedRun& run : runs) {
    jobs.push_back({run.plan.setup.redactor.words(run.overrides), redacted(run.plan)});
  }
  const std::string text = invocation.output.format == OutputFormat::Json
                               ? PL_TRY(plan_json(jobs))
                               : for_terminal(plan_text(jobs, asked.sweep.has_value()));
  PL_TRY(print_result(text));
  return ExitCode::Done;
}

}  // namespace profline
