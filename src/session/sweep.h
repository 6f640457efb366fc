#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "session/run_session.h"

namespace profline::session {

/// The jobs that a command line and its config describe.
struct Jobs {
  std::vector<RunRequest> requests;  ///< one, unless it is a sweep
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

/// Checks that every job could start: its config, and what it needs from this machine. Creates and
/// runs nothing.
Result<void> check_jobs(const std::vector<RunRequest>& requests, const Services& services);

/// What each job would do; creates and runs nothing. Problems of a sweep's jobs are reported
/// together.
Result<std::vector<PreparedRun>> plan_jobs(Jobs& jobs, const Services& services);

struct FinishedJobs {
  std::vector<FinishedRun> runs;  ///< the ones that started
  ExitCode worst = ExitCode::Done;
};
/// Runs the jobs one after another, if all of them could start. A job that then fails to start is
/// reported, and the others still run. For a single run, what prevents it from starting is the
/// Error.
Result<FinishedJobs> run_jobs(Jobs jobs, const Services& services);

}  // namespace profline::session
