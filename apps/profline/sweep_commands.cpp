#include <unistd.h>

#include <chrono>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "records/document.h"
#include "run/names/artifact_names.h"
#include "schema/read.h"
#include "session/sweep.h"
#include "standard_streams.h"
#include "sweep/report.h"
#include "sweep_text.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

namespace fs = std::filesystem;
using sweep::Job;
using sweep::Sweep;
using Align = TextTable::Align;

/// The sweep's folder, which every one of these commands takes.
Result<fs::path> folder_of(const Arguments& arguments, std::string_view command,
                           std::size_t words = 1) {
  if (arguments.words.size() != words) {
    return usage(fmt::format("'profline {}' takes the folder of a sweep{}", command,
                             words > 1 ? " and the number of a job" : ""));
  }
  std::error_code failure;
  const fs::path folder = fs::weakly_canonical(arguments.words.front(), failure);
  return failure ? fs::path(arguments.words.front()) : folder;
}

std::string sweep_status_text(const Sweep& sweep, const Palette& palette, std::size_t width) {
  TextTable table({{"job"},
                   {"state", Align::Left},
                   {"tries"},
                   {"node", Align::Left, false, 3},
                   {"overrides", Align::Left},
                   {"", Align::Left, true}});
  for (const Job& job : sweep.jobs) {
    table.add({std::to_string(job.number), std::string(schema::name_of(job.status.state)),
               std::to_string(job.status.attempts), job.status.node.empty() ? "–" : job.status.node,
               sweep::label_of(sweep, job), job.status.why});
  }
  return table.render(width, palette) +
         fmt::format("{}: {}\n", counted(sweep.jobs.size(), "job"), sweep::state_counts(sweep));
}

Result<void> print_sweep_status(Sweep sweep, const Invocation& invocation) {
  sweep::summarise(sweep);
  if (invocation.output.format == OutputFormat::Json) {
    return print_result(PL_TRY(to_document(sweep)));
  }
  const Palette palette(wants_color(invocation.arguments.value("--color"), STDOUT_FILENO));
  return print_result(sweep_status_text(sweep, palette, output_width()));
}

void print_sweep_notes(const std::vector<std::string>& notes, const Services& services) {
  for (const std::string& note : notes) services.remarks.warning(printable(note));
}

class SweepStatusVerb final : public Verb {
 public:
  std::string_view name() const override { return "sweep status"; }
  std::string_view summary() const override { return "show the state of each job of a sweep"; }
  std::vector<Example> examples() const override {
    return {{"profline sweep status tmp/profile-output/20261118-100000",
             "what is done, running, waiting and failed"}};
  }
  std::string_view words() const override { return "FOLDER"; }
  std::vector<Option> options() const override { return {}; }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override {
    const fs::path folder = PL_TRY(folder_of(invocation.arguments, name()));
    const sweep::Observed seen = PL_TRY(sweep::observe(folder, services.processes));
    PL_TRY(print_sweep_status(seen.sweep, invocation));
    print_sweep_notes(seen.notes, services);
    return ExitCode::Done;
  }
};

class WaitVerb final : public Verb {
 public:
  std::string_view name() const override { return "sweep wait"; }
  std::string_view summary() const override {
    return "wait for all jobs of a sweep; the exit code is the worst job's";
  }
  std::vector<Example> examples() const override {
    return {{"profline sweep wait tmp/profile-output/20261118-100000",
             "Ctrl-C stops the waiting, not the jobs"}};
  }
  std::string_view words() const override { return "FOLDER"; }
  std::vector<Option> options() const override { return {}; }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override {
    const fs::path folder = PL_TRY(folder_of(invocation.arguments, name()));
    const auto say = [&](const Sweep& sweep, const Job& job) {
      services.remarks.line(printable(sweep::end_line(sweep, job)));
    };
    PL_TRY(session::wait_for_sweep(folder, services, say));
    const sweep::Observed seen = PL_TRY(session::report_sweep(folder, services));
    PL_TRY(print_sweep_status(seen.sweep, invocation));
    print_sweep_notes(seen.notes, services);
    return sweep::worst_code(seen.sweep);
  }
};

class CancelVerb final : public Verb {
 public:
  std::string_view name() const override { return "sweep cancel"; }
  std::string_view summary() const override {
    return "stop the jobs of a sweep that have not ended";
  }
  std::vector<Example> examples() const override {
    return {{"profline sweep cancel tmp/profile-output/20261118-100000",
             "running jobs close their records first; 'sweep retry' resumes them"}};
  }
  std::string_view words() const override { return "FOLDER"; }
  std::vector<Option> options() const override { return {}; }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override {
    const fs::path folder = PL_TRY(folder_of(invocation.arguments, name()));
    const std::size_t stopped = PL_TRY(session::cancel_sweep(folder, services));
    if (invocation.output.format == OutputFormat::Json) {
      NodeMap document;
      document.set("schema", Node::string("profline.sweep_cancel/1"));
      document.set("cancelled", Node::integer(static_cast<std::int64_t>(stopped)));
      PL_TRY(print_result(PL_TRY(write_json(Node::map(std::move(document))))));
      return ExitCode::Done;
    }
    PL_TRY(print_result(stopped == 0 ? "all jobs have ended\n"
                                     : fmt::format("cancelled {}\n", counted(stopped, "job"))));
    return ExitCode::Done;
  }
};

class RetryVerb final : public Verb {
 public:
  std::string_view name() const override { return "sweep retry"; }
  std::string_view summary() const override {
    return "run the unsuccessful jobs of a sweep again, each from where it stopped";
  }
  std::vector<Example> examples() const override {
    return {{"profline sweep retry tmp/profile-output/20261118-100000",
             "jobs that succeeded are left alone"}};
  }
  std::string_view words() const override { return "FOLDER"; }
  std::vector<Option> options() const override { return {}; }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override {
    const fs::path folder = PL_TRY(folder_of(invocation.arguments, name()));
    const session::FinishedJobs done = PL_TRY(session::retry_sweep(folder, services));
    Sweep now = PL_TRY(sweep::observe(folder, services.processes)).sweep;
    if (now.launcher != sweep::LauncherKind::Slurm &&
        invocation.output.format == OutputFormat::Text) {
      sweep::summarise(now);
      PL_TRY(print_result(sweep_answer(now, folder, output_width())));
      return done.worst;
    }
    PL_TRY(print_sweep_status(std::move(now), invocation));
    if (!done.slurm_job.empty()) services.remarks.line("Slurm job " + done.slurm_job);
    return done.worst;
  }
};

class SweepReportVerb final : public Verb {
 public:
  std::string_view name() const override { return "sweep report"; }
  std::string_view summary() const override {
    return "rewrite the report of a sweep from the runs of its jobs";
  }
  std::vector<Example> examples() const override {
    return {{"profline sweep report tmp/profile-output/20261118-100000",
             "writes sweep.html, sweep.md and sweep.json"}};
  }
  std::string_view words() const override { return "FOLDER"; }
  std::vector<Option> options() const override { return {}; }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override {
    const fs::path folder = PL_TRY(folder_of(invocation.arguments, name()));
    const sweep::Observed seen = PL_TRY(session::report_sweep(folder, services));
    print_sweep_notes(seen.notes, services);
    if (invocation.output.format == OutputFormat::Json) {
      PL_TRY(print_result(PL_TRY(to_document(seen.sweep))));
      return ExitCode::Done;
    }
    std::string text = best_jobs_text(seen.sweep);
    for (const char* file :
         {run::files::kSweepPage, run::files::kSweepReport, run::files::kSweep}) {
      text += (folder / file).string() + "\n";
    }
    PL_TRY(print_result(for_terminal(printable_lines(text))));
    return ExitCode::Done;
  }
};

class TaskVerb final : public Verb {
 public:
  std::string_view name() const override { return "sweep run"; }
  std::string_view summary() const override {
    return "run one job of a sweep; launchers and batch scripts call this";
  }
  std::vector<Example> examples() const override {
    return {{"profline sweep run tmp/profile-output/20261118-100000 3",
             "job 3, unless it is done; waits if another process works on it"}};
  }
  std::string_view words() const override { return "FOLDER JOB"; }
  std::vector<Option> options() const override {
    return {{"--submission", "", Option::Takes::Value, "N",
             "number of the launch; 'sweep retry' begins a new one [1]"}};
  }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override {
    session::TaskRequest request;
    request.sweep = PL_TRY(folder_of(invocation.arguments, name(), 2));
    request.job = static_cast<std::int64_t>(
        PL_TRY(parse_whole_number(invocation.arguments.words[1], "JOB", {.least = 0})));
    const auto submission = PL_TRY(whole_number(invocation.arguments, "--submission"));
    request.submission = static_cast<std::int64_t>(submission.value_or(1));
    request.argv = invocation.argv;
    return session::run_task(request, services);
  }
};

}  // namespace

std::vector<std::unique_ptr<Verb>> sweep_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  verbs.push_back(std::make_unique<SweepStatusVerb>());
  verbs.push_back(std::make_unique<WaitVerb>());
  verbs.push_back(std::make_unique<CancelVerb>());
  verbs.push_back(std::make_unique<RetryVerb>());
  verbs.push_back(std::make_unique<SweepReportVerb>());
  verbs.push_back(std::make_unique<TaskVerb>());
  return verbs;
}

}  // namespace profline
