#include "session/internal/sweep_task.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/core.h>

#include "base/atomic_file.h"
#include "base/terminal_text.h"
#include "process/runner.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "run/run_folder.h"
#include "sweep/report.h"
#include "web/write_page.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using sweep::LauncherKind;
using sweep::Submission;
using sweep::Sweep;

/// `stage nsys failed: …`, from the record of a run that did not succeed.
std::string why_failed(const RunRecord& record) {
  for (const StageRecord& stage : record.stages) {
    if (stage.state != StageState::Failed && stage.state != StageState::TimedOut) continue;
    const auto problem =
        std::find_if(stage.findings.begin(), stage.findings.end(),
                     [](const Finding& each) { return each.severity == Severity::Problem; });
    std::string text = "stage " + stage.name + " failed";
    if (problem != stage.findings.end()) text += ": " + problem->text;
    return text;
  }
  return "";
}

/// Puts a job that was asked to stop back into the queue, if it may go on.
void queue_again(const Sweep& record, const Submission& submission, const sweep::Task& task,
                 ProcessRunner& runner, const Services& services) {
  constexpr int kTries = 5;
  const std::string id = task.attempts.back().slurm_task;
  if (submission.launcher != LauncherKind::Slurm || id.empty()) return;
  const bool at_limit = task.attempts.back().end == sweep::End::TimeLimit;
  if (at_limit && sweep::timeouts(task, submission.number) > record.settings.max_num_timeout) {
    services.remarks.problem(
        "the job reached its time limit again and is not requeued any more (max_num_timeout)");
    return;
  }
  for (int i = 0; i < kTries; ++i) {
    const auto queued = slurm::requeue(runner, id);
    if (queued) return;
    services.remarks.problem(queued.error().to_string());
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
}

}  // namespace

namespace internal {

std::string now_text() {
  return utc_timestamp(SystemClock().wall_now());
}

sweep::Attempt this_attempt(std::int64_t submission) {
  const slurm::Surroundings slurm = slurm::surroundings();
  sweep::Attempt attempt;
  attempt.submission = submission;
  attempt.slurm_task = slurm.task;
  attempt.restarts = slurm.restarts;
  attempt.host = run::host_name();
  attempt.node = slurm.node.empty() ? attempt.host : slurm.node;
  attempt.boot_id = run::boot_id();
  attempt.process = run::own_process();
  attempt.started = now_text();
  return attempt;
}

Result<void> write_report(const fs::path& folder, Sweep& record, const sweep::SweepLock& lock) {
  sweep::summarise(record);
  PL_TRY(write_private_file(folder / run::files::kSweepReport, sweep::markdown_of(record)));
  PL_TRY(write_private_file(folder / run::files::kSweepPage,
                            PL_TRY(web::sweep_page(record, folder.filename().string()))));
  return lock.write(record);
}

void report_progress(const fs::path& folder, const Remarks& remarks) {
  const auto written = [&]() -> Result<void> {
    const auto lock = PL_TRY(sweep::SweepLock::take_for_report(folder));
    if (!lock) return {};
    Sweep record = PL_TRY(sweep::read_progress(folder));
    return write_report(folder, record, *lock);
  }();
  if (!written) remarks.warning("no sweep report: " + written.error().to_string());
}

Result<JobOutcome> run_claimed(sweep::TaskClaim& claim, const RunRequest& request,
                               std::int64_t submission, const TimeLimitNotice* time_limit,
                               const Services& services) {
  const Interrupt::OrderlyStop until_recorded(services.interrupt);
  PL_TRY(claim.begin(this_attempt(submission)));
  JobOutcome outcome;
  std::string why;
  auto done = run_once(request, services);
  if (done) {
    outcome.code = done->code;
    why = why_failed(done->record);
    claim.task.verdict = done->verdict;
    claim.task.metrics.clear();  // those of a run that failed mean nothing
    if (done->code == ExitCode::Done) {
      claim.task.metrics = sweep::metrics_of(run::Run::with_record(done->folder, done->record));
    }
    outcome.run = std::move(*done);
  } else {
    outcome.code = exit_code(done.error().kind());
    why = done.error().to_string();
    for (const Error& problem : done.error().each()) {
      services.remarks.problem(
          fmt::format("job {}: {}", *request.job, printable_lines(problem.to_string())));
    }
  }
  // Slurm signals the children of a job too, and they may end before we stop them: what fails after
  // the signal did not fail by itself.
  if (outcome.code != ExitCode::Done && services.interrupt.requested()) {
    outcome.code = ExitCode::Interrupted;
    const bool in_time = time_limit != nullptr && time_limit->arrived();
    outcome.how = in_time ? sweep::End::TimeLimit : sweep::End::Stopped;
    why = in_time ? "stopped before its time limit" : "stopped by a signal";
  }
  PL_TRY(claim.end(outcome.how, outcome.code, std::move(why), now_text()));
  return outcome;
}

RunRequest request_for(const Sweep& record, const sweep::Job& job, const fs::path& folder) {
  RunRequest request;
  const CommandLineRecord& given = record.command_line;
  request.choice = {given.config_path, given.config_dir, given.config_name, job.overrides,
                    fs::path(given.cwd)};
  request.programs.workload = record.tools.workload.value_or("");
  request.programs.nsys = record.tools.nsys.value_or("");
  request.programs.ncu = record.tools.ncu.value_or("");
  request.job = static_cast<std::size_t>(job.number);
  request.sweep_folder = folder;
  const fs::path run = folder / job.folder;
  if (run::holds_run(run)) {
    request.resume = run;
    request.choice.overrides.clear();  // the run has them
  }
  return request;
}

}  // namespace internal

Result<ExitCode> run_task(const TaskRequest& request, const Services& services) {
  const TimeLimitNotice time_limit;
  const Interrupt::OrderlyStop until_recorded(services.interrupt);
  const Sweep record = PL_TRY(sweep::read_sweep(request.sweep));
  if (request.job < 0 || request.job >= static_cast<std::int64_t>(record.jobs.size())) {
    return Error(ErrorKind::NotFound, fmt::format("the sweep has no job {}", request.job));
  }
  const sweep::Job& job = record.jobs[static_cast<std::size_t>(request.job)];
  auto claim = PL_TRY(sweep::TaskClaim::take(request.sweep, request.job, services.interrupt, [&] {
    services.remarks.line("another process is working on this job; waiting for it");
  }));
  if (const auto code = sweep::finished(claim.task, request.submission)) {
    services.remarks.line("this job is already done");
    return *code;
  }
  RunRequest run = internal::request_for(record, job, request.sweep);
  run.argv = request.argv;
  services.remarks.line(job_line(static_cast<std::size_t>(job.number), job.overrides));
  const internal::JobOutcome outcome =
      PL_TRY(internal::run_claimed(claim, run, request.submission, &time_limit, services));
  if (outcome.how != sweep::End::Done) {
    // The interrupt that stopped the job would stop these commands too.
    const Interrupt undisturbed;
    PosixRunner runner(undisturbed);
    const std::string& id = claim.task.attempts.back().slurm_task;
    if (!id.empty() && slurm::is_preempted(runner, id)) {
      PL_TRY(claim.amend(sweep::End::Preempted, "preempted by another job"));
    }
    // After the notice there is time left. Without it Slurm ends the job, and queues it again
    // itself if it is to run again.
    const Submission* submission = record.submission_of(job.number);
    if (time_limit.arrived() && submission != nullptr) {
      queue_again(record, *submission, claim.task, runner, services);
    }
  }
  internal::report_progress(request.sweep, services.remarks);
  return outcome.code;
}

}  // namespace profline::session
