#include "run_command.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/terminal_text.h"
#include "config_command.h"
#include "formats/json_write.h"
#include "run_session.h"
#include "standard_streams.h"
#include "sweep.h"
#include "text_table.h"

namespace profline {
namespace {

Error usage(std::string message) {
  return Error(ErrorKind::Config, std::move(message)).with_reason("usage");
}

Result<void> check_options(const Arguments& arguments) {
  for (const char* option : {"--package", "--resolve"}) {
    if (arguments.has(option)) {
      return usage(std::string(option) + " is for showing the config: add --cfg job");
    }
  }
  if (!arguments.has("--resume")) return {};
  for (const char* option : {"--multirun", "--config-name", "--config-path", "--config-dir"}) {
    if (arguments.has(option)) {
      return usage(std::string(option) + " does not go with --resume: a run keeps its config");
    }
  }
  return {};
}

Result<FinishedRun> run_once(const RunWish& wish, const Services& services,
                             const Invocation& invocation) {
  PreparedRun run = PL_TRY(prepare_run(wish, Making::Folder, services, invocation.output));
  return start_run(run, wish, services, invocation);
}

/// Reports a job that could not start; the others still run.
ExitCode tell_failed_job(const std::string& which, const Error& error) {
  for (const Error& problem : error.each()) {
    print_remark(fmt::format("profline: {}: {}", which, printable_lines(problem.to_string())));
  }
  return exit_code(error.kind());
}

struct Finished {
  std::vector<FinishedRun> runs;
  ExitCode worst = ExitCode::Done;
};

/// The jobs of a sweep, one after another, if all of them could start.
Result<Finished> run_sweep(Jobs jobs, const Services& services, const Invocation& invocation) {
  auto sweep = PL_TRY(pipeline::RunFolder::claim(*jobs.sweep));
  jobs.lie_in(sweep.path());
  PL_TRY(check_jobs(jobs.wishes, services));
  Finished finished;
  for (std::size_t i = 0; i < jobs.wishes.size(); ++i) {
    if (services.interrupt.requested()) {
      finished.worst = ExitCode::Interrupted;
      break;
    }
    const RunWish& wish = jobs.wishes[i];
    if (invocation.output.verbosity >= 0) {
      print_remark(job_line(i, wish.choice.overrides));
    }
    auto done = run_once(wish, services, invocation);
    const ExitCode code =
        done ? done->code : tell_failed_job("job " + std::to_string(i), done.error());
    finished.worst = std::max(finished.worst, code);
    if (!done) continue;
    sweep.keep();
    finished.runs.push_back(std::move(*done));
  }
  return finished;
}

Result<Finished> run_alone(const RunWish& wish, const Services& services,
                           const Invocation& invocation) {
  Finished finished;
  finished.runs.push_back(PL_TRY(wish.resume ? resume_run(wish, services, invocation)
                                             : run_once(wish, services, invocation)));
  finished.worst = finished.runs.front().code;
  return finished;
}

std::string run_text(const FinishedRun& run) {
  std::string text = fmt::format("{:<16}  {}\n{:<16}  {}\n", "run", printable(run.folder.string()),
                                 "state", to_text(run.record.state));
  for (const StageRecord& stage : run.record.stages) {
    if (stage.state == StageState::Off) continue;
    const auto total = std::chrono::nanoseconds(stage.timing.total_ns);
    text += fmt::format("{:<16}  {:<11}  {}\n", stage.name, to_text(stage.state),
                        stage.started.empty() ? "" : human_elapsed(total));
  }
  if (run.verdict.empty()) return text;
  return text + fmt::format("{:<16}  {}\n{:<16}  {}\n", "verdict", printable(run.verdict), "report",
                            printable((run.folder / "report.html").string()));
}

Node run_json(const FinishedRun& run) {
  NodeMap entry;
  entry.set("run_dir", Node::string(run.folder.string()));
  entry.set("state", Node::string(std::string(to_text(run.record.state))));
  entry.set("exit_code", Node::integer(static_cast<int>(run.code)));
  NodeMap stages;
  for (const StageRecord& stage : run.record.stages) {
    stages.set(stage.name, Node::string(std::string(to_text(stage.state))));
  }
  entry.set("stages", Node::map(std::move(stages)));
  entry.set("verdict", run.verdict.empty() ? Node() : Node::string(run.verdict));
  return Node::map(std::move(entry));
}

Result<void> print(const std::vector<FinishedRun>& runs, OutputFormat format) {
  if (format == OutputFormat::Text) {
    for (const FinishedRun& run : runs) PL_TRY(print_result(for_terminal(run_text(run))));
    return {};
  }
  NodeMap document;
  document.set("schema", Node::string("profline.run_result/1"));
  Node list = Node::list();
  for (const FinishedRun& run : runs) list.as_list().push_back(run_json(run));
  document.set("runs", std::move(list));
  return print_result(PL_TRY(write_json(Node::map(std::move(document)))));
}

}  // namespace

std::vector<Option> RunVerb::options() const {
  using Takes = Option::Takes;
  std::vector<Option> options = config_choice_options();
  for (Option& option : run_options()) options.push_back(std::move(option));
  options.push_back({"--multirun", "-m", Takes::Nothing, "",
                     "one job for each combination of the values that sweeps name"});
  options.push_back({"--resume", "", Takes::Value, "RUN",
                     "go on with a run: stages that are not ok, and those whose inputs changed"});
  options.push_back({"--dry-run", "", Takes::Nothing, "", "only plan"});
  for (Option& option : config_showing_options()) options.push_back(std::move(option));
  return options;
}

std::vector<Option> DemoVerb::options() const {
  std::vector<Option> options = RunVerb::options();
  for (Option& option : options) {
    if (option.name == "--config-name") option.help = "the config to begin with [demo]";
  }
  return options;
}

Result<ExitCode> RunVerb::run(const Services& services, const Invocation& invocation) const {
  PL_TRY(check_options(invocation.arguments));
  RunWish wish;
  wish.choice = config_choice(invocation.arguments);
  if (!invocation.arguments.has("--config-name")) wish.choice.name = config_name();
  wish.programs = program_choice(invocation.arguments);
  wish.resume = invocation.arguments.value("--resume");
  Jobs jobs{{wish}};
  if (!wish.resume) {
    jobs = PL_TRY(jobs_of(wish, invocation.arguments.has("--multirun"), invocation.output));
  }
  const Finished finished =
      PL_TRY(jobs.sweep ? run_sweep(std::move(jobs), services, invocation)
                        : run_alone(jobs.wishes.front(), services, invocation));
  PL_TRY(print(finished.runs, invocation.output.format));
  return finished.worst;  // as its run.json says: an interrupt behind the last stage is too late
}

}  // namespace profline
