#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/result.h"
#include "process/interrupt.h"
#include "records/document.h"
#include "records/run_record.h"
#include "schema/field.h"
#include "tools/slurm/slurm.h"

/// A sweep's folder: `sweep.json`, the runs of its jobs, and in `.sweep/` what the process of each
/// job writes about itself. docs/formats/sweep.md describes it.
namespace profline::sweep {

enum class LauncherKind {
  Basic,  ///< one after another, in this process
  Local,  ///< several at a time, each in its own process
  Slurm,  ///< an array job
};
constexpr auto names(std::type_identity<LauncherKind>) {
  return std::array{named(LauncherKind::Basic, "basic"), named(LauncherKind::Local, "local"),
                    named(LauncherKind::Slurm, "slurm")};
}

/// `hydra.launcher`.
struct Launcher : slurm::Options {
  std::string target = {};
  std::int64_t n_jobs = 1;

  bool operator==(const Launcher&) const = default;
};
constexpr auto fields(std::type_identity<Launcher>) {
  return fields(std::type_identity<slurm::Options>{}) +
         field_list(field("_target_", &Launcher::target, "Hydra's name of the launcher"),
                    field("n_jobs", &Launcher::n_jobs, "how many jobs run at once on this machine")
                        .at_least(1));
}

enum class JobState {
  Pending,    ///< waits for its turn, or in Slurm's queue
  Running,    ///< also while Slurm starts or ends it
  Ok,         ///< its run succeeded
  Failed,     ///< its run did not, or could not start
  Cancelled,  ///< stopped by the user, before or after it started
  TimedOut,   ///< reached its time limit and may not be requeued again
  Killed,     ///< ended without recording it: out of memory, a dead node
  Held,       ///< in Slurm's queue, but kept back until somebody releases it
  Unknown,    ///< Slurm does not answer
};
constexpr auto names(std::type_identity<JobState>) {
  return std::array{named(JobState::Pending, "pending"),
                    named(JobState::Running, "running"),
                    named(JobState::Ok, "ok"),
                    named(JobState::Failed, "failed"),
                    named(JobState::Cancelled, "cancelled"),
                    named(JobState::TimedOut, "timeout"),
                    named(JobState::Killed, "killed"),
                    named(JobState::Held, "held"),
                    named(JobState::Unknown, "unknown")};
}
/// The job will not run any further unless the user retries it.
bool is_over(JobState state);

struct JobStatus {
  JobState state = JobState::Pending;
  std::string why = {};
  std::optional<std::int64_t> exit_code = {};
  std::int64_t attempts = 0;
  std::string started = {};
  std::string ended = {};
  std::string node = {};

  bool operator==(const JobStatus&) const = default;
  /// What the job adds to the exit code of its sweep.
  ExitCode code() const;
};
constexpr auto fields(std::type_identity<JobStatus>) {
  return field_list(
      field("state", &JobStatus::state, "how far it got").required(),
      field("why", &JobStatus::why, "why it waits or did not succeed; may be empty"),
      field("exit_code", &JobStatus::exit_code, "of its last process; null: it did not end"),
      field("attempts", &JobStatus::attempts, "how often it was started"),
      field("started", &JobStatus::started, "UTC of the first attempt; empty: not started"),
      field("ended", &JobStatus::ended, "UTC of the last end; empty: not ended"),
      field("node", &JobStatus::node, "where it ran last"));
}

/// A figure of a job's run: the median over requests, with its 95 % interval.
struct Metric {
  std::string name = {};
  std::string unit = {};
  double value = 0;
  std::optional<double> low = {};
  std::optional<double> high = {};
  std::int64_t n = 0;
  bool higher_is_better = false;

  bool operator==(const Metric&) const = default;
};
constexpr auto fields(std::type_identity<Metric>) {
  return field_list(
      field("name", &Metric::name, "token_ms, wall_ms, …").required(),
      field("unit", &Metric::unit, "of the values").required(),
      field("value", &Metric::value, "median over requests").required(),
      field("low", &Metric::low, "lower end of the 95 % interval; null: a single request"),
      field("high", &Metric::high, "upper end"), field("n", &Metric::n, "requests").required(),
      field("higher_is_better", &Metric::higher_is_better, "false: lower is"));
}

struct Job {
  std::int64_t number = 0;
  std::string folder = {};
  std::vector<std::string> overrides = {};
  JobStatus status = {};
  std::string verdict = {};
  std::vector<Metric> metrics = {};

  bool operator==(const Job&) const = default;
  const Metric* find_metric(std::string_view name) const;
};
constexpr auto fields(std::type_identity<Job>) {
  return field_list(
      field("number", &Job::number, "from 0; the index of its task in an array job").required(),
      field("folder", &Job::folder, "of its run, below the sweep's").required(),
      field("overrides", &Job::overrides, "of its command line").required(),
      field("status", &Job::status, "when this file was written"),
      field("verdict", &Job::verdict, "of its report; empty: it has none"),
      field("metrics", &Job::metrics, "of its run without a profiler"));
}

/// One launch of some of the jobs: the first is all of them, each retry adds one.
struct Submission {
  std::int64_t number = 1;
  std::string time = {};
  LauncherKind launcher = LauncherKind::Basic;
  std::vector<std::int64_t> jobs = {};
  std::string slurm_job = {};
  std::string host = {};
  std::string boot_id = {};
  ProcessRecord process = {};
  std::string cancelled = {};

  bool operator==(const Submission&) const = default;
};
constexpr auto fields(std::type_identity<Submission>) {
  return field_list(
      field("number", &Submission::number, "from 1").required(),
      field("time", &Submission::time, "UTC"),
      field("launcher", &Submission::launcher, "what started the jobs"),
      field("jobs", &Submission::jobs, "their numbers, ascending").required(),
      field("slurm_job", &Submission::slurm_job, "id of the array job; empty: not on Slurm"),
      field("host", &Submission::host, "where it was launched"),
      field("boot_id", &Submission::boot_id, "of that machine's boot"),
      field("process", &Submission::process, "the launcher, which stays for jobs on its machine"),
      field("cancelled", &Submission::cancelled,
            "UTC of profline sweep cancel; empty: it was not"));
}

/// The best job by one metric.
struct Best {
  std::string metric = {};
  std::int64_t job = 0;
  std::vector<std::int64_t> as_good = {};

  bool operator==(const Best&) const = default;
};
constexpr auto fields(std::type_identity<Best>) {
  return field_list(
      field("metric", &Best::metric, "name").required(),
      field("job", &Best::job, "number").required(),
      field("as_good", &Best::as_good, "jobs whose intervals overlap the best one's, by number"));
}

/// `sweep.json`: the record of a sweep, and its report.
struct Sweep {
  static constexpr DocumentKind kKind{"sweep", 1};

  std::string started = {};
  std::string version = {};
  LauncherKind launcher = LauncherKind::Basic;
  Launcher settings = {};
  CommandLineRecord command_line = {};
  ToolsRecord tools = {};
  std::vector<Submission> submissions = {};
  std::vector<std::string> swept = {};
  std::vector<Best> best = {};
  std::vector<std::string> pareto_metrics = {};
  std::vector<std::int64_t> pareto = {};
  std::vector<Job> jobs = {};

  bool operator==(const Sweep&) const = default;
  /// The last submission that contains the job; null if it was never submitted.
  const Submission* submission_of(std::int64_t job) const;
};
constexpr auto fields(std::type_identity<Sweep>) {
  return field_list(
      field("started", &Sweep::started, "UTC"), field("version", &Sweep::version, "of profline"),
      field("launcher", &Sweep::launcher, "what runs the jobs").required(),
      field("settings", &Sweep::settings, "hydra.launcher"),
      field("command_line", &Sweep::command_line, "how the sweep was started").required(),
      field("tools", &Sweep::tools, "programs named on the command line"),
      field("submissions", &Sweep::submissions, "launches, oldest first"),
      field("swept", &Sweep::swept, "keys whose values differ between jobs"),
      field("best", &Sweep::best, "the best job by each of the main metrics"),
      field("pareto_metrics", &Sweep::pareto_metrics, "the two metrics that are traded off"),
      field("pareto", &Sweep::pareto, "jobs that no other job beats in both, by number"),
      field("jobs", &Sweep::jobs, "by number").required());
}

/// How an attempt at a job ended, in its own words.
enum class End {
  Open,       ///< not recorded: it is running, or was killed
  Done,       ///< by itself, with an exit code
  Stopped,    ///< by a signal: scancel, Ctrl-C, requeue
  TimeLimit,  ///< its time limit was near
  Preempted,  ///< Slurm needed its place for another job
};
constexpr auto names(std::type_identity<End>) {
  return std::array{named(End::Open, "open"), named(End::Done, "done"),
                    named(End::Stopped, "stopped"), named(End::TimeLimit, "time_limit"),
                    named(End::Preempted, "preempted")};
}

struct Attempt {
  std::int64_t submission = 1;
  std::string slurm_task = {};
  std::int64_t restarts = 0;
  std::string node = {};
  std::string host = {};
  std::string boot_id = {};
  ProcessRecord process = {};
  std::string started = {};
  std::string ended = {};
  End end = End::Open;
  std::optional<std::int64_t> exit_code = {};
  std::string why = {};

  bool operator==(const Attempt&) const = default;
};
constexpr auto fields(std::type_identity<Attempt>) {
  return field_list(field("submission", &Attempt::submission, "that it belongs to").required(),
                    field("slurm_task", &Attempt::slurm_task, "123_4; empty: not on Slurm"),
                    field("restarts", &Attempt::restarts, "how often Slurm had started it before"),
                    field("node", &Attempt::node, "Slurm's name of the node, else the host"),
                    field("host", &Attempt::host, "the machine's name"),
                    field("boot_id", &Attempt::boot_id, "of the machine's boot"),
                    field("process", &Attempt::process, "profline itself"),
                    field("started", &Attempt::started, "UTC"),
                    field("ended", &Attempt::ended, "UTC; empty: not ended"),
                    field("end", &Attempt::end, "how it ended").required(),
                    field("exit_code", &Attempt::exit_code, "of the run; null: not ended"),
                    field("why", &Attempt::why, "what went wrong; may be empty"));
}

/// `.sweep/<number>.json`: written only by the process that holds the job's lock.
struct Task {
  static constexpr DocumentKind kKind{"sweep_task", 1};

  std::vector<Attempt> attempts = {};
  std::string verdict = {};
  std::vector<Metric> metrics = {};

  bool operator==(const Task&) const = default;
};
constexpr auto fields(std::type_identity<Task>) {
  return field_list(
      field("attempts", &Task::attempts, "oldest first").required(),
      field("verdict", &Task::verdict, "of the report of the run; empty: it has none"),
      field("metrics", &Task::metrics, "of the run without a profiler"));
}

/// An Error of kind NotFound if the folder is not that of a sweep.
Result<Sweep> read_sweep(const std::filesystem::path& folder);
bool holds_sweep(const std::filesystem::path& folder);

/// What the processes of a job wrote; empty before the first.
Result<Task> read_task(const std::filesystem::path& folder, std::int64_t job);

/// Whether a process works on the job, on whichever machine. False on a file system without locks.
bool is_claimed(const std::filesystem::path& folder, std::int64_t job);

/// Where a local job's output goes.
std::filesystem::path log_of(const std::filesystem::path& folder, std::int64_t job);

/// The exclusive right to change sweep.json; waits for others, who hold it for a moment only.
class SweepLock {
 public:
  static Result<SweepLock> take(const std::filesystem::path& folder);
  /// The same for a folder that holds a sweep; an Error of kind NotFound if it does not.
  static Result<SweepLock> take_existing(const std::filesystem::path& folder);
  /// The same for a report on what the caller has recorded. Nothing if another process waits for
  /// its turn to report: it has not read the records yet, and will find the caller's.
  static Result<std::optional<SweepLock>> take_for_report(const std::filesystem::path& folder);

  Result<void> write(const Sweep& sweep) const;

 private:
  SweepLock(std::filesystem::path folder, FileDescriptor lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::filesystem::path folder_;
  FileDescriptor lock_;
};

/// The exclusive right to work on a job, which ends with this or with our process. Slurm may start
/// a job twice; the second process waits for the first and then finds its result.
class TaskClaim {
 public:
  /// Waits while another process works on the job; calls `waits` once if it has to. An Error of
  /// kind Cancelled after an interrupt.
  static Result<TaskClaim> take(const std::filesystem::path& folder, std::int64_t job,
                                const Interrupt& interrupt, const std::function<void()>& waits);

  Task task;
  Result<void> save() const;

  /// Begins an attempt, after ending those that did not say how they ended.
  Result<void> begin(Attempt attempt);
  /// Ends the last attempt.
  Result<void> end(End how, ExitCode code, std::string why, const std::string& time);
  /// Says how the last attempt ended once more is known about it.
  Result<void> amend(End how, std::string why);

 private:
  TaskClaim(std::filesystem::path file, FileDescriptor lock)
      : file_(std::move(file)), lock_(std::move(lock)) {}

  std::filesystem::path file_;
  FileDescriptor lock_;
};

/// The exit code if the job's work for this submission is done, so that starting it again must not
/// repeat it.
std::optional<ExitCode> finished(const Task& task, std::int64_t submission);
/// How often attempts of this submission reached the time limit.
std::int64_t timeouts(const Task& task, std::int64_t submission);

}  // namespace profline::sweep
