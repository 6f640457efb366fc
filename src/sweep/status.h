#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "process/runner.h"
#include "sweep/sweep.h"

namespace profline::sweep {

/// What is known about a job from outside: Slurm's queue and accounting, or the processes of this
/// machine.
struct Seen {
  enum class Where {
    Waiting,  ///< in the queue
    Running,  ///< or starting, or ending
    Gone,     ///< ended, or forgotten
    Unknown,  ///< nobody answers
  };
  Where where = Where::Unknown;
  std::string state = {};   ///< Slurm's word for it: `NODE_FAIL`; empty: not known
  std::string reason = {};  ///< Slurm's: `Resources`

  bool operator==(const Seen&) const = default;
};

/// A task in Slurm's queue; nothing: the queue does not list it (any more), and `accounted` is what
/// sacct says, if it answers. A task that only accounting takes for unfinished is gone: its records
/// are late.
Seen seen_by_slurm(const std::optional<slurm::Task>& queued,
                   const std::optional<slurm::Task>& accounted);

/// A job of this machine, by whether its process and its launcher are alive. If they ran on another
/// machine, that is unknown.
Seen seen_here(const Task& task, const Submission& submission);

/// The state of a job: what its processes wrote counts first, then what is seen of it. `latest` is
/// the last submission that contains it.
JobStatus status_of(const Task& task, const Submission& latest, const Seen& seen);

/// A sweep as it is now.
struct Observed {
  Sweep sweep;                          ///< with the status of each job
  std::vector<std::string> notes = {};  ///< what could not be found out
};
/// Reads what the jobs wrote, and asks Slurm about those that have not ended. A job that was found
/// to be over stays so once Slurm has forgotten it.
Result<Observed> observe(const std::filesystem::path& folder, ProcessRunner& runner);
/// The same without asking Slurm: for a process of the sweep, which reports on its siblings. A job
/// of Slurm that was found to be over stays so until it begins again or is retried.
Result<Sweep> read_progress(const std::filesystem::path& folder);

/// The worst exit code of the jobs that have ended.
ExitCode worst_code(const Sweep& sweep);

}  // namespace profline::sweep
