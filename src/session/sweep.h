#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "session/configuration.h"
#include "session/run_session.h"
#include "sweep/status.h"

namespace profline::session {

/// The jobs that a command line and its config describe.
struct Jobs {
  std::vector<RunRequest> requests;  ///< one, unless it is a sweep
  RunRequest asked{};                ///< of a sweep: as typed
  LauncherChoice launcher{};         ///< of a sweep
  /// Where the jobs of a sweep go; absent: a single run.
  std::optional<run::FolderRequest> sweep{};

  /// Sets the final folder of the sweep.
  void lie_in(const std::filesystem::path& folder);
};

/// --multirun requests a sweep, and so does `hydra.mode: MULTIRUN`. Its jobs are the combinations
/// of hydra.sweeper.params and the overrides, which replace parameters of the same key.
Result<Jobs> jobs_of(const RunRequest& request, bool multirun_given, const Remarks& remarks);

/// `#0 : infer.max_new_tokens=8`: a job as Hydra's launcher shows it, without Hydra's own settings.
std::string job_line(std::size_t number, const std::vector<std::string>& overrides);

/// Collects the problems of jobs to report them together, each problem once.
class JobProblems {
 public:
  void add(std::size_t job, const Error& error);
  /// There are more problems than anybody would read.
  bool are_enough() const;
  Result<void> result() const;

 private:
  struct Problem {
    Error error;
    std::vector<std::size_t> jobs;
  };
  std::vector<Problem> problems_;
  std::unordered_map<std::string, std::size_t> by_text_;
};

/// A job that could start.
struct CheckedJob {
  std::filesystem::path folder;        ///< that its run would get
  std::vector<std::string> overrides;  ///< without secrets
};
struct CheckedJobs {
  std::vector<CheckedJob> jobs;
  std::vector<std::string> argv;               ///< of the command line, without secrets
  std::optional<Error> not_on_this_machine{};  ///< what is missing here, if jobs run elsewhere
};
enum class JobsRun { Here, Elsewhere };
/// Checks that every job could start: its config and, if it runs here, what it needs from this
/// machine. Creates and runs nothing.
Result<CheckedJobs> check_jobs(const std::vector<RunRequest>& requests, const Services& services,
                               JobsRun where = JobsRun::Here);

/// What each job would do; creates and runs nothing. Problems of a sweep's jobs are reported
/// together.
Result<std::vector<PreparedRun>> plan_jobs(Jobs& jobs, const Services& services);

/// A single run, or a resumed one.
Result<FinishedRun> run_once(const RunRequest& request, const Services& services);

}  // namespace profline::session

/// Sweeps from their launch to their report.
namespace profline::session {

struct FinishedJobs {
  std::vector<FinishedRun> runs;  ///< those that ran in this process
  ExitCode worst = ExitCode::Done;
  std::optional<std::filesystem::path> sweep{};  ///< its folder; absent: a single run
  std::string slurm_job{};  ///< the array job that was submitted; empty: the jobs have ended
};

/// Runs the jobs with the chosen launcher, if all of them could start: one after another in this
/// process, several at a time in their own, or as an array job, which is only submitted. A job that
/// then fails to start is reported, and the others still run. For a single run, what prevents it
/// from starting is the Error.
Result<FinishedJobs> run_jobs(Jobs jobs, const Services& services);

/// The batch script that the jobs would be submitted with; empty unless they go to Slurm. `jobs`
/// have their final folder.
Result<std::string> script_of(const Jobs& jobs);

/// One job of a sweep, in the process that its launcher started for it.
struct TaskRequest {
  std::filesystem::path sweep;
  std::int64_t job = 0;
  std::int64_t submission = 1;
  std::vector<std::string> argv{};  ///< for the record
};
/// Claims the job, starts or resumes its run, and records how it ended. Work that was done before
/// is not repeated. Near its time limit a job of Slurm stops in order and is queued again.
Result<ExitCode> run_task(const TaskRequest& request, const Services& services);

/// Runs the unsuccessful jobs that have ended again; those whose run began are resumed, and
/// those that Slurm holds are released. An Error of kind NotFound if no job failed.
Result<FinishedJobs> retry_sweep(const std::filesystem::path& folder, const Services& services);

/// Stops the jobs that have not ended. Returns how many there were.
Result<std::size_t> cancel_sweep(const std::filesystem::path& folder, const Services& services);

/// Calls `changed` once for each job that has ended, until all have or the user interrupts.
Result<sweep::Observed> wait_for_sweep(
    const std::filesystem::path& folder, const Services& services,
    const std::function<void(const sweep::Sweep&, const sweep::Job&)>& changed);

/// Writes sweep.json, sweep.md and sweep.html from the state of the jobs and the figures of their
/// runs.
Result<sweep::Observed> report_sweep(const std::filesystem::path& folder, const Services& services);

}  // namespace profline::session
