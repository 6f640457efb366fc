#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "session/run_session.h"

namespace profline::session {

/// The jobs that a command line and its config stand for.
struct Jobs {
  std::vector<RunWish> wishes;  ///< just one, unless it is a sweep
  /// Where the jobs of a sweep are wished to lie; none: it is a single run.
  std::optional<run::FolderWish> sweep{};

  /// Says where the sweep's folder is, in the end.
  void lie_in(const std::filesystem::path& folder);
};

/// --multirun asks for a sweep, and so does `hydra.mode: MULTIRUN`. Its jobs are the combinations
/// of hydra.sweeper.params and the overrides, which replace parameters of the same key.
Result<Jobs> jobs_of(const RunWish& wish, bool multirun_given, const Remarks& remarks);

/// `#0 : infer.max_new_tokens=8`: a job as Hydra's launcher shows it, without Hydra's own settings.
std::string job_line(std::size_t number, const std::vector<std::string>& overrides);

/// What is wrong with jobs, collected to be told together, each problem once.
class JobProblems {
 public:
  void add(std::size_t job, const Error& error);
  /// There is more to tell than anybody reads.
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

/// That every job could start: its config, and what it needs of this machine. Makes and runs
/// nothing.
Result<void> check_jobs(const std::vector<RunWish>& wishes, const Services& services);

/// What each job would do; makes and runs nothing. What is wrong with jobs of a sweep is told
/// together.
Result<std::vector<PreparedRun>> plan_jobs(Jobs& jobs, const Services& services);

struct FinishedJobs {
  std::vector<FinishedRun> runs;  ///< those that started
  ExitCode worst = ExitCode::Done;
};
/// The jobs, one after another, if all of them could start; one that cannot after all is told, and
/// the others still run. Of a single run, what keeps it from starting is the Error.
Result<FinishedJobs> run_jobs(Jobs jobs, const Services& services);

}  // namespace profline::session
