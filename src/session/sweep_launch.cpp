#include <algorithm>
#include <mutex>
#include <thread>

#include <fmt/core.h>

#include "base/atomic_file.h"
#include "base/figures.h"
#include "base/redaction.h"
#include "base/terminal_text.h"
#include "process/runner.h"
#include "profline_version.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "run/run_folder.h"
#include "session/internal/sweep_submission.h"
#include "session/internal/sweep_task.h"
#include "session/sweep.h"
#include "sweep/report.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using internal::may_have_jobs;
using internal::now_text;
using internal::remove_launch;
using internal::report_progress;
using internal::request_for;
using internal::run_claimed;
using internal::script_for;
using internal::slurm_folder;
using internal::submit;
using internal::task_command;
using internal::write_report;
using sweep::LauncherKind;
using sweep::Submission;
using sweep::Sweep;

Submission new_submission(const Sweep& record, LauncherKind launcher,
                          std::vector<std::int64_t> jobs) {
  Submission submission;
  submission.number = static_cast<std::int64_t>(record.submissions.size()) + 1;
  submission.time = now_text();
  submission.launcher = launcher;
  submission.jobs = std::move(jobs);
  submission.host = run::host_name();
  submission.boot_id = run::boot_id();
  submission.process = run::own_process();
  return submission;
}

/// Values that look like secrets cannot be passed on through a file.
Result<void> check_no_secrets(const Jobs& jobs, const CheckedJobs& checked) {
  if (jobs.launcher.kind == LauncherKind::Basic) return {};
  JobProblems problems;
  for (std::size_t i = 0; i < checked.jobs.size(); ++i) {
    const auto& given = jobs.requests[i].choice.overrides;
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (given[k] == checked.jobs[i].overrides[k]) continue;
      problems.add(i, Error(ErrorKind::Config,
                            "the override of '" + sweep::setting_of(given[k]).key +
                                "' looks like a secret, which this launcher would have to write "
                                "to a file; refer to a variable instead: ${oc.env:NAME}"));
    }
  }
  return problems.result();
}

std::optional<std::string> if_named(const std::string& program) {
  return program.empty() ? std::nullopt : std::optional(program);
}

Sweep new_sweep(const Jobs& jobs, const CheckedJobs& checked, const fs::path& folder) {
  Sweep record;
  record.started = now_text();
  record.version = kVersion;
  record.launcher = jobs.launcher.kind;
  record.settings = jobs.launcher.settings;
  const ConfigChoice& choice = jobs.asked.choice;
  std::error_code failure;
  record.command_line.argv = checked.argv;
  record.command_line.cwd = choice.cwd.value_or(fs::current_path(failure)).string();
  record.command_line.config_name = choice.name;
  record.command_line.config_path = choice.path;
  record.command_line.config_dir = choice.dir;
  const ProgramChoice& programs = jobs.asked.programs;
  record.tools = {if_named(programs.workload), if_named(programs.nsys), if_named(programs.ncu)};
  for (std::size_t i = 0; i < checked.jobs.size(); ++i) {
    sweep::Job job;
    job.number = static_cast<std::int64_t>(i);
    job.folder = checked.jobs[i].folder.lexically_relative(folder).string();
    job.overrides = checked.jobs[i].overrides;
    record.jobs.push_back(std::move(job));
  }
  sweep::summarise(record);
  return record;
}

std::vector<std::int64_t> all_jobs(const Sweep& record) {
  std::vector<std::int64_t> numbers;
  for (const sweep::Job& job : record.jobs) numbers.push_back(job.number);
  return numbers;
}

/// Records that the user stopped a launch on this machine, and with it the jobs that had not begun.
void record_stop(const fs::path& folder, std::int64_t submission) {
  const auto lock = sweep::SweepLock::take(folder);
  auto record = sweep::read_sweep(folder);
  if (!lock || !record) return;
  Submission& stopped = record->submissions[static_cast<std::size_t>(submission - 1)];
  stopped.cancelled = now_text();
  // What cannot be written here cannot be reported either, which is said then.
  static_cast<void>(lock->write(*record).has_value());
}

/// The end of a launch on this machine: reports on the jobs as they are then, and returns that.
Result<Sweep> report_end(const fs::path& folder, const Submission& submission,
                         const Services& services) {
  if (services.interrupt.requested()) record_stop(folder, submission.number);
  const auto lock = sweep::SweepLock::take(folder);
  auto observed = PL_TRY(sweep::observe(folder, services.processes));
  const auto written =
      lock ? write_report(folder, observed.sweep, *lock) : Result<void>(lock.error());
  if (!written) services.remarks.warning("no sweep report: " + written.error().to_string());
  return std::move(observed.sweep);
}

/// `4 jobs in /home/me/tmp/profile-output/20261115-194759`
std::string launch_line(const fs::path& folder, const Submission& submission) {
  return counted(submission.jobs.size(), "job") + " in " + printable(folder.string());
}

/// The line of a job of this machine that ended.
std::string line_of(const fs::path& folder, const Sweep& record, Submission submission,
                    sweep::Job job, std::optional<std::chrono::nanoseconds> wall,
                    const Interrupt& interrupt) {
  auto task = sweep::read_task(folder, job.number);
  if (interrupt.requested()) submission.cancelled = now_text();
  job.status = sweep::status_of(std::move(task).value_or(sweep::Task()), submission,
                                {sweep::Seen::Where::Gone});
  return printable(sweep::end_line(record, job) + (wall ? ", " + human_elapsed(*wall) : ""));
}

/// For the runs of jobs that are shown with one line each: their stages only if the user asks.
Services services_of_jobs(const Services& services) {
  Services quieter = services;
  if (quieter.progress.verbosity == Verbosity::Normal) {
    quieter.progress.verbosity = Verbosity::Quiet;
  }
  return quieter;
}

/// Jobs in this process, one after another.
Result<FinishedJobs> run_here(const fs::path& folder, const Sweep& record,
                              const Submission& submission,
                              const std::function<RunRequest(const sweep::Job&)>& request_of,
                              const Services& services) {
  const Interrupt::OrderlyStop until_recorded(services.interrupt);
  const Services of_jobs = services_of_jobs(services);
  const SystemClock clock;
  FinishedJobs finished;
  finished.sweep = folder;
  services.remarks.line(launch_line(folder, submission));
  for (const std::int64_t number : submission.jobs) {
    if (services.interrupt.requested()) {
      finished.worst = ExitCode::Interrupted;
      break;
    }
    const sweep::Job& job = record.jobs[static_cast<std::size_t>(number)];
    if (services.remarks.verbosity() > 0) {
      services.remarks.line(
          printable(fmt::format("#{} : {}", number, sweep::label_of(record, job))));
    }
    auto claim = PL_TRY(sweep::TaskClaim::take(folder, number, services.interrupt, {}));
    const auto started = clock.now();
    auto outcome = PL_TRY(run_claimed(claim, request_of(job), submission.number, nullptr, of_jobs));
    services.remarks.line(
        line_of(folder, record, submission, job, clock.now() - started, services.interrupt));
    finished.worst = std::max(finished.worst, outcome.code);
    report_progress(folder, services.remarks);
    if (outcome.run) finished.runs.push_back(std::move(*outcome.run));
  }
  PL_TRY(report_end(folder, submission, services));
  return finished;
}

/// Why a job has no attempt although its process ended, or never began.
std::string why_not_started(const Result<Exit>& exit, const fs::path& log) {
  if (!exit) return "could not start: " + exit.error().to_string();
  return "could not start: its process " + exit->describe() + ", see " + log.string();
}

/// Records the failure of a job whose process ended without having begun an attempt.
Result<void> record_failed_start(const fs::path& folder, std::int64_t number,
                                 std::int64_t submission, const Result<Exit>& exit,
                                 const Interrupt& interrupt) {
  if (interrupt.requested()) return {};  // then it was stopped
  auto claim = PL_TRY(sweep::TaskClaim::take(folder, number, interrupt, {}));
  const auto& attempts = claim.task.attempts;
  if (!attempts.empty() && attempts.back().submission >= submission) return {};
  PL_TRY(claim.begin(internal::this_attempt(submission)));
  return claim.end(sweep::End::Done, ExitCode::Failed,
                   why_not_started(exit, sweep::log_of(folder, number)), now_text());
}

/// Jobs in processes of their own, `n_jobs` at a time.
Result<FinishedJobs> run_in_processes(const fs::path& folder, const Sweep& record,
                                      const Submission& submission, const Services& services) {
  // A job stops its own children in order, which takes as long as our default patience.
  PosixRunner runner(services.interrupt, {.interrupt_grace = std::chrono::seconds(40),
                                          .terminate_grace = std::chrono::seconds(20)});
  const std::vector<std::string> task = task_command(folder, submission.number);
  std::mutex lock;
  std::size_t next = 0;
  const auto work = [&] {
    for (;;) {
      std::unique_lock held(lock);
      if (next >= submission.jobs.size() || services.interrupt.requested()) return;
      const std::int64_t number = submission.jobs[next++];
      held.unlock();
      Command command{.argv = task};
      command.argv.push_back(std::to_string(number));
      command.log = sweep::log_of(folder, number);
      const auto exit = runner.run(command);
      const auto recorded =
          record_failed_start(folder, number, submission.number, exit, services.interrupt);
      held.lock();
      if (!recorded) {
        services.remarks.problem(
            recorded.error().during("job " + std::to_string(number)).to_string());
      }
      const sweep::Job& job = record.jobs[static_cast<std::size_t>(number)];
      const auto wall = exit ? std::optional(exit->wall) : std::nullopt;
      services.remarks.line(line_of(folder, record, submission, job, wall, services.interrupt));
    }
  };
  services.remarks.line(
      fmt::format("{}, {} at a time", launch_line(folder, submission), record.settings.n_jobs));
  const Interrupt::OrderlyStop until_recorded(services.interrupt);
  {
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(record.settings.n_jobs, 1));
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < std::min(most, submission.jobs.size()); ++i)
      workers.emplace_back(work);
  }
  FinishedJobs finished;
  finished.sweep = folder;
  const Sweep ended = PL_TRY(report_end(folder, submission, services));
  finished.worst = sweep::worst_code(ended);
  for (const std::int64_t number : submission.jobs) {
    const sweep::Job& job = ended.jobs[static_cast<std::size_t>(number)];
    if (!sweep::is_over(job.status.state))
      finished.worst = std::max(finished.worst, ExitCode::Failed);
  }
  if (services.interrupt.requested()) finished.worst = ExitCode::Interrupted;
  return finished;
}

/// Whether a job may still do something in its folder.
bool has_ended(const sweep::Job& job) {
  return sweep::is_over(job.status.state) && job.status.state != sweep::JobState::Held;
}

/// A folder may be used again for another sweep, but not while one is in it.
Result<void> check_no_sweep(const fs::path& folder, const Services& services) {
  if (!sweep::holds_sweep(folder)) return {};
  const auto observed = PL_TRY(sweep::observe(folder, services.processes));
  const auto& jobs = observed.sweep.jobs;
  if (std::all_of(jobs.begin(), jobs.end(), has_ended)) {
    std::error_code failure;
    fs::remove_all(folder / run::folders::kSweepTasks, failure);
    return {};
  }
  return Error(ErrorKind::Config,
               "hydra.sweep.dir: '" + folder.string() +
                   "' holds a sweep whose jobs have not all ended; choose another "
                   "folder, or see 'profline sweep status'");
}

Result<FinishedJobs> run_sweep(Jobs jobs, const Services& services) {
  auto folder = PL_TRY(run::RunFolder::claim(*jobs.sweep));
  jobs.lie_in(folder.path());
  const bool is_slurm = jobs.launcher.kind == LauncherKind::Slurm;
  const CheckedJobs checked =
      PL_TRY(check_jobs(jobs.requests, services, is_slurm ? JobsRun::Elsewhere : JobsRun::Here));
  PL_TRY(check_no_secrets(jobs, checked));
  PL_TRY(check_no_sweep(folder.path(), services));
  if (checked.not_on_this_machine) {
    for (const Error& problem : checked.not_on_this_machine->each()) {
      services.remarks.detail("on this machine, " + problem.to_string());
    }
  }
  Sweep record = new_sweep(jobs, checked, folder.path());
  record.submissions.push_back(new_submission(record, jobs.launcher.kind, all_jobs(record)));
  if (is_slurm) {
    const sweep::SweepLock lock = PL_TRY(sweep::SweepLock::take(folder.path()));
    const fs::path output = slurm_folder(record, folder.path(), jobs.sweep->folder);
    auto submitted = submit(folder.path(), output, record, lock, services);
    if (submitted || may_have_jobs(submitted.error())) {
      folder.keep();
    } else {
      remove_launch(folder.path(), output);
    }
    return submitted;
  }
  {
    const sweep::SweepLock lock = PL_TRY(sweep::SweepLock::take(folder.path()));
    PL_TRY(lock.write(record));
  }
  folder.keep();
  const Submission& submission = record.submissions.back();
  if (jobs.launcher.kind == LauncherKind::Local) {
    return run_in_processes(folder.path(), record, submission, services);
  }
  return run_here(
      folder.path(), record, submission,
      [&](const sweep::Job& job) { return jobs.requests[static_cast<std::size_t>(job.number)]; },
      services);
}

/// A launch in our own process gets secrets from the command line, and records none.
Result<void> check_values_are_known(const Sweep& record, const std::vector<std::int64_t>& jobs) {
  JobProblems problems;
  for (const std::int64_t number : jobs) {
    for (const std::string& text : record.jobs[static_cast<std::size_t>(number)].overrides) {
      if (text.find(kRedacted) == std::string::npos) continue;
      const std::string key = sweep::setting_of(text).key;
      problems.add(static_cast<std::size_t>(number),
                   Error(ErrorKind::Config,
                         "the record of the sweep does not have the value of '" + key +
                             "', which looked like a secret; start the sweep again, or refer to a "
                             "variable instead: " +
                             key + "='${oc.env:NAME}'"));
    }
  }
  return problems.result();
}

}  // namespace

Result<FinishedJobs> run_jobs(Jobs jobs, const Services& services) {
  if (jobs.sweep) return run_sweep(std::move(jobs), services);
  FinishedJobs finished;
  finished.runs.push_back(PL_TRY(run_once(jobs.requests.front(), services)));
  finished.worst = finished.runs.front().code;
  return finished;
}

Result<std::string> script_of(const Jobs& jobs) {
  if (!jobs.sweep || jobs.launcher.kind != LauncherKind::Slurm) return std::string();
  CheckedJobs checked;
  const fs::path folder = jobs.requests.front().sweep_folder.value_or(jobs.sweep->folder);
  for (const RunRequest& request : jobs.requests) {
    checked.jobs.push_back({folder, request.choice.overrides});
  }
  Sweep record = new_sweep(jobs, checked, folder);
  const Submission submission = new_submission(record, jobs.launcher.kind, all_jobs(record));
  return script_for(record, submission, folder, slurm_folder(record, folder, jobs.sweep->folder));
}

Result<FinishedJobs> retry_sweep(const fs::path& folder, const Services& services) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  // Held from the first look on, so that of two retries the second finds the jobs launched.
  std::optional<sweep::SweepLock> lock(PL_TRY(sweep::SweepLock::take_existing(path)));
  const auto observed = PL_TRY(sweep::observe(path, services.processes));
  Sweep record = observed.sweep;
  std::vector<std::int64_t> failed;
  std::size_t released = 0;
  for (const sweep::Job& job : record.jobs) {
    const sweep::JobState state = job.status.state;
    if (state == sweep::JobState::Held) {
      const std::string& array = record.submission_of(job.number)->slurm_job;
      PL_TRY(slurm::release(services.processes, array + "_" + std::to_string(job.number)));
      ++released;
    } else if (sweep::is_over(state) && state != sweep::JobState::Ok) {
      failed.push_back(job.number);
    }
  }
  if (failed.empty() && released > 0) {
    FinishedJobs waiting;
    waiting.sweep = path;
    return waiting;
  }
  if (failed.empty()) {
    return Error(ErrorKind::NotFound,
                 "no job of this sweep has failed: " + sweep::state_counts(record));
  }
  const LauncherKind launcher = record.launcher;
  PL_TRY(check_values_are_known(record, failed));
  for (const std::int64_t job : failed) record.jobs[static_cast<std::size_t>(job)].status = {};
  record.submissions.push_back(new_submission(record, launcher, std::move(failed)));
  if (launcher == LauncherKind::Slurm) {
    const fs::path output = slurm_folder(record, path, path);
    auto submitted = submit(path, output, record, *lock, services);
    if (submitted || may_have_jobs(submitted.error())) return submitted;
    Sweep before = observed.sweep;
    PL_TRY(write_report(path, before, *lock));
    return submitted;
  }
  PL_TRY(lock->write(record));
  lock.reset();
  const Submission& submission = record.submissions.back();
  if (launcher == LauncherKind::Local) return run_in_processes(path, record, submission, services);
  return run_here(
      path, record, submission,
      [&](const sweep::Job& job) { return request_for(record, job, path); }, services);
}

}  // namespace profline::session
