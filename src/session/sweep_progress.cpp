// What happens to a sweep after its launch: waiting, cancelling, reporting.

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <set>

#include "base/terminal_text.h"
#include "run/run.h"
#include "run/run_folder.h"
#include "session/internal/sweep_task.h"
#include "session/sweep.h"
#include "sweep/report.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using internal::now_text;
using internal::write_report;
using sweep::LauncherKind;
using sweep::Submission;
using sweep::Sweep;

/// A controller that lost its last seconds may keep tasks in its queue whose work is done; nobody
/// needs them.
void drop_leftovers(const Sweep& record, const Services& services) {
  for (const Submission& submission : record.submissions) {
    if (submission.slurm_job.empty()) continue;
    const auto tasks = slurm::queue(services.processes, submission.slurm_job);
    if (!tasks) return;
    std::vector<std::size_t> left;
    for (const auto& [index, task] : *tasks) {
      const bool waits =
          sweep::seen_by_slurm(task, std::nullopt).where == sweep::Seen::Where::Waiting;
      if (!waits || index >= record.jobs.size()) continue;
      const sweep::JobState state = record.jobs[index].status.state;
      if (state == sweep::JobState::Ok || state == sweep::JobState::Failed) left.push_back(index);
    }
    if (left.empty()) continue;
    const auto dropped = slurm::cancel(services.processes, submission.slurm_job, left);
    if (!dropped) services.remarks.warning(dropped.error().to_string());
  }
}

/// Whether one look is enough to see that a job is over. Slurm may lose sight of a job for a
/// moment, while its controller starts or queues it again.
bool is_certain(const Sweep& record, const sweep::Job& job) {
  const sweep::JobState state = job.status.state;
  if (state == sweep::JobState::Ok || state == sweep::JobState::Failed) return true;  // it said so
  const Submission* submission = record.submission_of(job.number);
  return submission == nullptr || submission->launcher != LauncherKind::Slurm;
}

/// The jobs that are over, of which those that are not certain were over in the look before, too.
class EndedJobs {
 public:
  /// Calls `changed` for those that are new.
  void look_at(const Sweep& record,
               const std::function<void(const Sweep&, const sweep::Job&)>& changed) {
    std::set<std::int64_t> seen;
    moves_ = false;
    for (const sweep::Job& job : record.jobs) {
      const bool is_over = sweep::is_over(job.status.state);
      if (is_over) seen.insert(job.number);
      if (!is_over) {
        ended_.erase(job.number);
      } else if (!is_certain(record, job) && !seen_before_.contains(job.number)) {
        moves_ = true;
      } else if (ended_.insert(job.number).second) {
        moves_ = true;
        changed(record, job);
      }
    }
    seen_before_ = std::move(seen);
  }
  std::size_t count() const { return ended_.size(); }
  /// The last look brought something new.
  bool moves() const { return moves_; }

 private:
  std::set<std::int64_t> ended_;
  std::set<std::int64_t> seen_before_;
  bool moves_ = false;
};

}  // namespace

Result<std::size_t> cancel_sweep(const fs::path& folder, const Services& services) {
  const sweep::SweepLock lock = PL_TRY(sweep::SweepLock::take_existing(folder));
  auto observed = PL_TRY(sweep::observe(folder, services.processes));
  Sweep record = observed.sweep;
  std::size_t stopped = 0;
  for (Submission& submission : record.submissions) {
    std::vector<std::size_t> jobs;
    for (const std::int64_t number : submission.jobs) {
      const sweep::Job& job = observed.sweep.jobs[static_cast<std::size_t>(number)];
      if (record.submission_of(number) != &submission) continue;
      const bool may_run =
          !sweep::is_over(job.status.state) || job.status.state == sweep::JobState::Held;
      if (may_run) jobs.push_back(static_cast<std::size_t>(number));
    }
    if (jobs.empty()) continue;
    if (submission.launcher == LauncherKind::Slurm) {
      if (submission.slurm_job.empty()) {
        return Error(ErrorKind::NotFound, "the id of the array job is not known; see squeue");
      }
      PL_TRY(slurm::cancel(services.processes, submission.slurm_job, jobs));
    } else if (submission.host == run::host_name() && run::is_alive(submission.process)) {
      // A script that starts a sweep with `&` makes it ignore SIGINT.
      ::kill(static_cast<pid_t>(submission.process.pid), SIGTERM);
    } else {
      return Error(ErrorKind::NotFound,
                   "the jobs run on " + submission.host + "; cancel them there");
    }
    submission.cancelled = now_text();
    stopped += jobs.size();
  }
  if (stopped == 0) return stopped;
  PL_TRY(lock.write(record));
  observed = PL_TRY(sweep::observe(folder, services.processes));
  PL_TRY(write_report(folder, observed.sweep, lock));
  return stopped;
}

Result<sweep::Observed> wait_for_sweep(
    const fs::path& folder, const Services& services,
    const std::function<void(const Sweep&, const sweep::Job&)>& changed) {
  constexpr int kFirstMs = 500;
  constexpr int kLongestMs = 5000;
  EndedJobs ended;
  std::vector<std::string> notes;
  for (int pause_ms = kFirstMs;; pause_ms = std::min(pause_ms * 2, kLongestMs)) {
    auto observed = PL_TRY(sweep::observe(folder, services.processes));
    sweep::summarise(observed.sweep);
    if (observed.notes != notes) {
      notes = observed.notes;
      for (const std::string& note : notes) services.remarks.warning(printable(note));
    }
    ended.look_at(observed.sweep, changed);
    if (ended.moves()) pause_ms = kFirstMs;
    if (ended.count() == observed.sweep.jobs.size()) {
      drop_leftovers(observed.sweep, services);
      return observed;
    }
    pollfd asked{services.interrupt.requested_fd(), POLLIN, 0};
    ::poll(&asked, 1, pause_ms);
    if (services.interrupt.requested()) {
      return Error(ErrorKind::Cancelled, "stopped waiting; the jobs continue");
    }
  }
}

Result<sweep::Observed> report_sweep(const fs::path& folder, const Services& services) {
  const sweep::SweepLock lock = PL_TRY(sweep::SweepLock::take_existing(folder));
  auto observed = PL_TRY(sweep::observe(folder, services.processes));
  run::OpenedRuns runs;
  for (sweep::Job& job : observed.sweep.jobs) {
    const auto opened = runs.open(folder / job.folder);
    const bool is_ok = opened && (*opened)->record().state == RunState::Ok;
    if (is_ok) job.metrics = sweep::metrics_of(**opened);
  }
  PL_TRY(write_report(folder, observed.sweep, lock));
  return observed;
}

}  // namespace profline::session
