#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "session/sweep.h"
#include "sweep/status.h"

/// Sweeps from their launch to their report.
namespace profline::session {

struct FinishedJobs {
  std::vector<FinishedRun> runs;  ///< those that ran in this process
  ExitCode worst = ExitCode::Done;
  std::optional<std::filesystem::path> sweep{};  ///< its folder; absent: a single run
  std::string slurm_job{};  ///< the array job that was submitted; empty: the jobs are over
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

/// Runs the jobs that are over and did not succeed again; those whose run began are resumed, and
/// those that Slurm holds are released. An Error of kind NotFound if no job failed.
Result<FinishedJobs> retry_sweep(const std::filesystem::path& folder, const Services& services);

/// Stops the jobs that are not over. Returns how many there were.
Result<std::size_t> cancel_sweep(const std::filesystem::path& folder, const Services& services);

/// Calls `changed` for each job that is over, once, until all are or the user interrupts.
Result<sweep::Observed> wait_for_sweep(
    const std::filesystem::path& folder, const Services& services,
    const std::function<void(const sweep::Sweep&, const sweep::Job&)>& changed);

/// Writes sweep.json, sweep.md and sweep.html from the state of the jobs and the figures of their
/// runs.
Result<sweep::Observed> report_sweep(const std::filesystem::path& folder, const Services& services);

}  // namespace profline::session
