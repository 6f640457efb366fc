#include "sweep/status.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "run/run_folder.h"

namespace profline::sweep {
namespace {

using Where = Seen::Where;

/// Slurm's states of jobs that have not ended, other than PENDING.
bool is_active(std::string_view state) {
  constexpr std::string_view kActive[] = {"RUNNING",   "COMPLETING", "SUSPENDED",   "STOPPED",
                                          "SIGNALING", "STAGE_OUT",  "CONFIGURING", "RESIZING"};
  return std::find(std::begin(kActive), std::end(kActive), state) != std::end(kActive);
}

bool is_waiting(std::string_view state) {
  return state == "PENDING" || state.starts_with("REQUEUE") || state == "RESV_DEL_HOLD" ||
         state == "SPECIAL_EXIT";
}

std::string end_words(const Attempt& attempt) {
  if (attempt.end == End::TimeLimit) return "its time limit";
  if (attempt.end == End::Preempted) return "it was preempted";
  if (attempt.end == End::Stopped) return "it was stopped";
  return "it was killed or its node failed";
}

/// `Slurm says NODE_FAIL`; empty if Slurm says nothing.
std::string slurm_words(const Seen& seen) {
  if (seen.state.empty()) return "";
  const bool has_reason = !seen.reason.empty() && lower(seen.reason) != lower(seen.state);
  return "Slurm says " + seen.state + (has_reason ? " (" + seen.reason + ")" : "");
}

/// Slurm ended the job for a reason of its own, and will not start it again.
bool was_taken_away(std::string_view state) {
  constexpr std::string_view kStates[] = {"PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "DEADLINE",
                                          "REVOKED"};
  return std::find(std::begin(kStates), std::end(kStates), state) != std::end(kStates);
}

struct Verdict {
  JobState state;
  std::string why = {};
};

Verdict done(const Attempt& attempt) {
  if (attempt.exit_code == 0) return {JobState::Ok};
  return {JobState::Failed, attempt.why};
}

Verdict waiting(const Attempt* last, const Seen& seen) {
  // JobHeldUser, JobHeldAdmin, and after a launch that failed: `launch failed requeued held`
  if (lower(seen.reason).find("held") != std::string::npos) {
    return {JobState::Held, "Slurm holds it: " + seen.reason};
  }
  if (last == nullptr) return {JobState::Pending, seen.reason};
  return {JobState::Pending, "queued again after " + end_words(*last)};
}

Verdict running(const Attempt* last) {
  if (last == nullptr) return {JobState::Running, "is starting"};
  if (last->end != End::Open)
    return {JobState::Running, "is shutting down after " + end_words(*last)};
  return {JobState::Running};
}

Verdict gone(const Attempt* last, const Submission& latest, const Seen& seen) {
  const bool was_cancelled = !latest.cancelled.empty() || seen.state == "CANCELLED";
  const std::string said = slurm_words(seen);
  if (last == nullptr) {
    if (was_cancelled) return {JobState::Cancelled, "before it started"};
    if (latest.launcher == LauncherKind::Slurm && latest.slurm_job.empty()) {
      return {JobState::Killed, "it never started: its submission was interrupted"};
    }
    return {JobState::Killed, "it never started" + (said.empty() ? "" : ": " + said)};
  }
  if (last->end == End::TimeLimit) return {JobState::TimedOut, "reached its time limit"};
  if (was_cancelled) return {JobState::Cancelled};
  if (last->end == End::Preempted) {
    return {JobState::Killed, "it was preempted and not queued again"};
  }
  // Its own record may say that it was stopped, by the signal that Slurm ended it with.
  if (seen.state == "TIMEOUT") return {JobState::TimedOut, "ended at its time limit by Slurm"};
  if (last->end == End::Stopped && was_taken_away(seen.state)) return {JobState::Killed, said};
  if (last->end == End::Stopped) {
    return {JobState::Cancelled, said.empty() ? last->why : said};
  }
  return {JobState::Killed, "ended without a record" + (said.empty() ? "" : ": " + said)};
}

Verdict unknown(const Attempt* last, const Submission& latest) {
  if (latest.launcher == LauncherKind::Slurm && latest.slurm_job.empty()) {
    return {JobState::Unknown, "its submission on " + latest.host + " has recorded no job id"};
  }
  if (latest.launcher != LauncherKind::Slurm) {
    return {JobState::Unknown, "it was launched on " + latest.host};
  }
  if (last != nullptr && last->end == End::Open) {
    return {JobState::Unknown, "it started, and Slurm does not answer"};
  }
  return {JobState::Unknown, "Slurm does not answer"};
}

Verdict judge(const Attempt* last, const Submission& latest, const Seen& seen) {
  if (last != nullptr && last->end == End::Done) return done(*last);
  switch (seen.where) {
    case Where::Waiting:
      return waiting(last, seen);
    case Where::Running:
      return running(last);
    case Where::Gone:
      return gone(last, latest, seen);
    case Where::Unknown:
      return unknown(last, latest);
  }
  return unknown(last, latest);
}

bool was_here(const std::string& host, const std::string& boot_id) {
  return host == run::host_name() && boot_id == run::boot_id();
}

const Attempt* last_attempt(const Task& task, std::int64_t submission) {
  if (task.attempts.empty() || task.attempts.back().submission != submission) return nullptr;
  return &task.attempts.back();
}

bool has_said_its_end(const Task& task, const Submission& latest) {
  const Attempt* last = last_attempt(task, latest.number);
  return last != nullptr && last->end == End::Done;
}

/// Slurm's answers about array jobs; each is asked for once.
class SlurmView {
 public:
  explicit SlurmView(ProcessRunner& runner) : runner_(runner) {}

  Seen find(const std::string& array_job, std::size_t index, std::vector<std::string>& notes) {
    auto queue = queues_.find(array_job);
    if (queue == queues_.end()) {
      queue = queues_.emplace(array_job, slurm::queue(runner_, array_job)).first;
      if (!queue->second) notes.push_back(queue->second.error().to_string());
    }
    if (!queue->second) return {Where::Unknown};
    const auto queued = task_in(*queue->second, index);
    if (queued) return seen_by_slurm(queued, std::nullopt);
    auto accounts = accounts_.find(array_job);
    if (accounts == accounts_.end()) {
      accounts = accounts_.emplace(array_job, slurm::accounting(runner_, array_job)).first;
    }
    return seen_by_slurm(std::nullopt,
                         accounts->second ? task_in(*accounts->second, index) : std::nullopt);
  }

 private:
  static std::optional<slurm::Task> task_in(const slurm::Tasks& tasks, std::size_t index) {
    const auto found = tasks.find(index);
    return found == tasks.end() ? std::nullopt : std::optional(found->second);
  }

  ProcessRunner& runner_;
  std::map<std::string, Result<slurm::Tasks>> queues_;
  std::map<std::string, std::optional<slurm::Tasks>> accounts_;
};

/// A submission that was killed between sbatch and its record has no job id; its tasks have.
std::string array_job_of(const Task& task, std::int64_t submission) {
  for (const Attempt& attempt : task.attempts) {
    if (attempt.submission == submission && !attempt.slurm_task.empty()) {
      return attempt.slurm_task.substr(0, attempt.slurm_task.find('_'));
    }
  }
  return "";
}

Result<void> find_lost_ids(Sweep& sweep, const std::filesystem::path& folder) {
  for (Submission& submission : sweep.submissions) {
    if (submission.launcher != LauncherKind::Slurm) continue;
    for (std::size_t i = 0; i < submission.jobs.size() && submission.slurm_job.empty(); ++i) {
      submission.slurm_job =
          array_job_of(PL_TRY(read_task(folder, submission.jobs[i])), submission.number);
    }
  }
  return {};
}

/// What the files alone say of a job that has not recorded its end.
Seen seen_in_files(const Task& task, const Submission& latest) {
  if (latest.launcher != LauncherKind::Slurm) return seen_here(task, latest);
  const Attempt* last = last_attempt(task, latest.number);
  if (last != nullptr && last->end == End::Open) return {Where::Running};
  return {latest.cancelled.empty() ? Where::Waiting : Where::Gone};
}

/// Whoever asked Slurm has recorded that the job is over, and it has not begun again since. A retry
/// takes that back.
bool was_found_over(const JobStatus& recorded, const Task& task) {
  return is_over(recorded.state) && recorded.state != JobState::Held &&
         recorded.attempts == static_cast<std::int64_t>(task.attempts.size());
}

/// What is seen of a job, and what it wrote until then.
struct Look {
  Seen seen = {};
  Task task = {};
};

Result<Look> look_at(const std::filesystem::path& folder, const Job& job, const Submission& latest,
                     SlurmView& slurm, std::vector<std::string>& notes) {
  Look look{.task = PL_TRY(read_task(folder, job.number))};
  if (has_said_its_end(look.task, latest)) return look;
  // Without the id, only whether the launcher still works on it is known.
  const bool is_queued = latest.launcher == LauncherKind::Slurm && !latest.slurm_job.empty();
  const auto index = static_cast<std::size_t>(job.number);
  look.seen = is_queued ? slurm.find(latest.slurm_job, index, notes) : seen_here(look.task, latest);
  // A job that is gone now wrote its end before that, but perhaps after it was read.
  look.task = PL_TRY(read_task(folder, job.number));
  const Attempt* last = last_attempt(look.task, latest.number);
  const bool is_forgotten = is_queued && look.seen == Seen{Where::Gone};
  if (!is_forgotten || last == nullptr || last->end != End::Open) return look;
  // A controller that lost its last seconds does not know jobs that run all the same.
  if (is_claimed(folder, job.number)) {
    look.seen = {Where::Running};
  } else {
    look.task = PL_TRY(read_task(folder, job.number));
  }
  return look;
}

void fill_in(Job& job, Task task) {
  job.verdict = std::move(task.verdict);
  job.metrics = std::move(task.metrics);
}

}  // namespace

Seen seen_by_slurm(const std::optional<slurm::Task>& queued,
                   const std::optional<slurm::Task>& accounted) {
  const auto& said = queued ? queued : accounted;
  if (!said) return {Where::Gone};
  const bool waits = is_waiting(said->state);
  const bool is_stale = !queued && (waits || is_active(said->state));
  if (is_stale) return {Where::Gone};
  Seen seen{Where::Gone, said->state, said->reason};
  if (waits) seen.where = Where::Waiting;
  if (is_active(said->state)) seen.where = Where::Running;
  return seen;
}

Seen seen_here(const Task& task, const Submission& submission) {
  const Attempt* last = last_attempt(task, submission.number);
  const bool started_here = last != nullptr && was_here(last->host, last->boot_id);
  if (started_here && last->end == End::Open && run::is_alive(last->process)) {
    return {Where::Running};
  }
  if (submission.host != run::host_name()) return {Where::Unknown};
  const bool launches =
      was_here(submission.host, submission.boot_id) && run::is_alive(submission.process);
  const bool may_start = launches && last == nullptr && submission.cancelled.empty();
  return {may_start ? Where::Waiting : Where::Gone};
}

JobStatus status_of(const Task& task, const Submission& latest, const Seen& seen) {
  JobStatus status;
  status.attempts = static_cast<std::int64_t>(task.attempts.size());
  if (!task.attempts.empty()) {
    status.started = task.attempts.front().started;
    status.node = task.attempts.back().node;
  }
  const Attempt* last = last_attempt(task, latest.number);
  Verdict verdict = judge(last, latest, seen);
  status.state = verdict.state;
  status.why = std::move(verdict.why);
  if (last != nullptr && is_over(status.state)) {
    status.exit_code = last->exit_code;
    status.ended = last->ended;
  }
  return status;
}

Result<Observed> observe(const std::filesystem::path& folder, ProcessRunner& runner) {
  Observed observed{PL_TRY(read_sweep(folder)), {}};
  PL_TRY(find_lost_ids(observed.sweep, folder));
  SlurmView slurm(runner);
  for (Job& job : observed.sweep.jobs) {
    const Submission* latest = observed.sweep.submission_of(job.number);
    if (latest == nullptr) continue;
    auto [seen, task] = PL_TRY(look_at(folder, job, *latest, slurm, observed.notes));
    // Slurm no longer says why the job ended, but whoever asked earlier has recorded it.
    const bool is_forgotten = latest->launcher == LauncherKind::Slurm && seen == Seen{Where::Gone};
    if (!is_forgotten || !was_found_over(job.status, task)) {
      job.status = status_of(task, *latest, seen);
    }
    fill_in(job, std::move(task));
  }
  return observed;
}

Result<Sweep> read_progress(const std::filesystem::path& folder) {
  Sweep sweep = PL_TRY(read_sweep(folder));
  for (Job& job : sweep.jobs) {
    const Submission* latest = sweep.submission_of(job.number);
    if (latest == nullptr) continue;
    Task task = PL_TRY(read_task(folder, job.number));
    const bool is_known = latest->launcher == LauncherKind::Slurm &&
                          !has_said_its_end(task, *latest) && was_found_over(job.status, task);
    if (!is_known) job.status = status_of(task, *latest, seen_in_files(task, *latest));
    fill_in(job, std::move(task));
  }
  return sweep;
}

ExitCode worst_code(const Sweep& sweep) {
  ExitCode worst = ExitCode::Done;
  for (const Job& job : sweep.jobs) worst = std::max(worst, job.status.code());
  return worst;
}

}  // namespace profline::sweep
