#include <fmt/core.h>

#include "base/figures.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "run/names/artifact_names.h"
#include "session/run_session.h"
#include "session/sweep.h"
#include "standard_streams.h"
#include "sweep_text.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

Result<void> check_options(const Arguments& arguments) {
  PL_TRY(check_nothing_is_shown(arguments));
  if (!arguments.has("--resume")) return {};
  if (arguments.program) {
    return usage("a program after '--' does not go with --resume: a run keeps its program");
  }
  for (const char* option : {"--multirun", "--config-name", "--config-path", "--config-dir"}) {
    if (arguments.has(option)) {
      return usage(std::string(option) + " does not go with --resume: a run keeps its config");
    }
  }
  return {};
}

std::string run_text(const session::FinishedRun& run) {
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
                            printable((run.folder / run::files::kReportPage).string()));
}

Node run_json(const session::FinishedRun& run) {
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

Result<std::string> sweep_text(const session::FinishedJobs& done) {
  const sweep::Sweep sweep = PL_TRY(sweep::read_sweep(*done.sweep));
  if (done.slurm_job.empty()) return sweep_answer(sweep, *done.sweep, output_width());
  return for_terminal(fmt::format("{:<16}  {}\n{:<16}  {}\n{:<16}  {}\n", "sweep",
                                  printable(done.sweep->string()), "slurm job", done.slurm_job,
                                  "jobs", sweep.jobs.size()));
}

Result<void> print(const session::FinishedJobs& done, OutputFormat format) {
  if (format == OutputFormat::Text) {
    return print_result(done.sweep ? PL_TRY(sweep_text(done))
                                   : for_terminal(run_text(done.runs.front())));
  }
  NodeMap document;
  document.set("schema", Node::string("profline.run_result/1"));
  Node list = Node::list();
  for (const session::FinishedRun& run : done.runs) list.as_list().push_back(run_json(run));
  document.set("runs", std::move(list));
  if (done.sweep) document.set("sweep_dir", Node::string(done.sweep->string()));
  if (!done.slurm_job.empty()) document.set("slurm_job", Node::string(done.slurm_job));
  return print_result(PL_TRY(write_json(Node::map(std::move(document)))));
}

/// `profline run`: composes, runs the enabled stages in order, writes the run directory.
class RunVerb : public Verb {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override {
    return "run the enabled stages and write a run directory";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline run -- python3 infer.py --batch 4", "profile your own program"},
        {"profline run device=cpu pipeline.torch_profiler.enable=true",
         "profile the configured model on the CPU"},
        {"profline run pipeline.nsys.enable=true pipeline.ncu.enable=true",
         "add Nsight Systems and Nsight Compute"},
        {"profline run --resume tmp/profile-output/20261115-100000", "resume an interrupted run"},
        {"profline run -m hydra/launcher=slurm infer.max_new_tokens=64,128 model.dtype=fp16,bf16",
         "submit a sweep of four jobs to Slurm"},
    };
  }
  std::string_view words() const override { return "[OVERRIDES] [-- PROGRAM...]"; }
  bool takes_program() const override { return true; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;

 protected:
  /// The default config, if it is not the one of every command.
  virtual std::optional<std::string> config_name() const { return std::nullopt; }
};

/// `profline demo`: the same with a tiny model and generated pages.
class DemoVerb final : public RunVerb {
 public:
  std::string_view name() const override { return "demo"; }
  std::string_view summary() const override {
    return "run everything on a tiny model; needs no GPU and no download";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline demo", "static analysis, baseline and profilers in a few seconds"},
        {"profline demo --dry-run", "show what it would run"},
    };
  }
  std::string_view words() const override { return "[OVERRIDES]"; }
  bool takes_program() const override { return false; }
  std::vector<Option> options() const override;

 protected:
  std::optional<std::string> config_name() const override { return "demo"; }
};

}  // namespace

std::vector<Option> RunVerb::options() const {
  using Takes = Option::Takes;
  std::vector<Option> options = config_choice_options();
  for (Option& option : run_options()) options.push_back(std::move(option));
  options.push_back(
      {"--multirun", "-m", Takes::Nothing, "", "one job per combination of the swept values"});
  options.push_back({"--resume", "", Takes::Value, "RUN",
                     "resume a run: run the stages that are not ok or whose inputs changed"});
  options.push_back({"--dry-run", "", Takes::Nothing, "", "show the plan without running it"});
  for (Option& option : config_showing_options()) options.push_back(std::move(option));
  return options;
}

std::vector<Option> DemoVerb::options() const {
  std::vector<Option> options = RunVerb::options();
  for (Option& option : options) {
    if (option.name == "--config-name") option.help = "the primary config [demo]";
  }
  return options;
}

Result<ExitCode> RunVerb::run(const Services& services, const Invocation& invocation) const {
  PL_TRY(check_options(invocation.arguments));
  session::RunRequest request;
  request.choice = config_choice(invocation.arguments);
  if (!invocation.arguments.has("--config-name")) {
    request.choice.name = config_name().value_or(request.choice.name);
  }
  request.programs = program_choice(invocation.arguments);
  request.argv = invocation.argv;
  request.resume = invocation.arguments.value("--resume");
  session::Jobs jobs{{request}};
  if (!request.resume) {
    const bool multirun = invocation.arguments.has("--multirun");
    jobs = PL_TRY(session::jobs_of(request, multirun, services.remarks));
  }
  const session::FinishedJobs finished = PL_TRY(session::run_jobs(std::move(jobs), services));
  PL_TRY(print(finished, invocation.output.format));
  return finished.worst;  // as in its run.json: an interrupt after the last stage is too late
}

std::unique_ptr<Verb> run_verb() {
  return std::make_unique<RunVerb>();
}

std::unique_ptr<Verb> demo_verb() {
  return std::make_unique<DemoVerb>();
}

}  // namespace profline
