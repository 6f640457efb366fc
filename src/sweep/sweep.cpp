#include "sweep/sweep.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

#include "base/atomic_file.h"
#include "run/names/artifact_names.h"

namespace profline::sweep {
namespace {

namespace fs = std::filesystem;

fs::path task_file(const fs::path& folder, std::int64_t job, const char* ending) {
  return folder / run::folders::kSweepTasks / (std::to_string(job) + ending);
}

/// Whether the lock was taken. On a file system without locks it always is: then only the records
/// of attempts keep two processes apart.
Result<bool> try_lock(const FileDescriptor& file, const fs::path& path) {
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK || errno == EINTR) return false;
  if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return true;
  return os_error("lock", path, errno);
}

Result<FileDescriptor> open_lock(const fs::path& path) {
  constexpr mode_t kPrivate = 0600;
  PL_TRY(create_folders(path.parent_path()));
  FileDescriptor file = open_descriptor(path.c_str(), O_RDWR | O_CREAT, kPrivate);
  if (!file.is_open()) return os_error("open", path, errno);
  return file;
}

Result<void> check_holds_sweep(const fs::path& folder) {
  if (holds_sweep(folder)) return {};
  return Error(
      ErrorKind::NotFound,
      "'" + folder.string() + "' is not the folder of a sweep: it has no " + run::files::kSweep);
}

}  // namespace

bool is_over(JobState state) {
  return state != JobState::Pending && state != JobState::Running && state != JobState::Unknown;
}

ExitCode JobStatus::code() const {
  switch (state) {
    case JobState::Failed:
      return exit_code ? static_cast<ExitCode>(*exit_code) : ExitCode::Failed;
    case JobState::Cancelled:
      return ExitCode::Interrupted;
    case JobState::TimedOut:
    case JobState::Killed:
    case JobState::Held:
      return ExitCode::Failed;
    case JobState::Pending:
    case JobState::Running:
    case JobState::Ok:
    case JobState::Unknown:
      return ExitCode::Done;
  }
  return ExitCode::Done;
}

const Metric* Job::find_metric(std::string_view name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

const Submission* Sweep::submission_of(std::int64_t job) const {
  const auto found =
      std::find_if(submissions.rbegin(), submissions.rend(), [&](const Submission& submission) {
        return std::binary_search(submission.jobs.begin(), submission.jobs.end(), job);
      });
  return found == submissions.rend() ? nullptr : &*found;
}

bool holds_sweep(const fs::path& folder) {
  std::error_code failure;
  return fs::is_regular_file(folder / run::files::kSweep, failure);
}

Result<Sweep> read_sweep(const fs::path& folder) {
  PL_TRY(check_holds_sweep(folder));
  const fs::path file = folder / run::files::kSweep;
  return from_document<Sweep>(PL_TRY(read_file(file)), file.string());
}

Result<Task> read_task(const fs::path& folder, std::int64_t job) {
  const fs::path file = task_file(folder, job, ".json");
  const auto text = read_file(file);
  if (text) return from_document<Task>(*text, file.string());
  if (text.error().kind() == ErrorKind::NotFound) return Task();
  return text.error();
}

bool is_claimed(const fs::path& folder, std::int64_t job) {
  const FileDescriptor file = open_descriptor(task_file(folder, job, ".lock").c_str(), O_RDONLY, 0);
  return file.is_open() && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

fs::path log_of(const fs::path& folder, std::int64_t job) {
  return task_file(folder, job, ".log");
}

Result<SweepLock> SweepLock::take(const fs::path& folder) {
  const fs::path path = folder / run::folders::kSweepTasks / "lock";
  FileDescriptor file = PL_TRY(open_lock(path));
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    if (PL_TRY(try_lock(file, path))) break;
  }
  return SweepLock(folder, std::move(file));
}

Result<SweepLock> SweepLock::take_existing(const fs::path& folder) {
  PL_TRY(check_holds_sweep(folder));
  return take(folder);
}

Result<std::optional<SweepLock>> SweepLock::take_for_report(const fs::path& folder) {
  const fs::path path = folder / run::folders::kSweepTasks / "report.lock";
  const FileDescriptor turn = PL_TRY(open_lock(path));
  if (!PL_TRY(try_lock(turn, path))) return std::optional<SweepLock>();
  return std::optional<SweepLock>(PL_TRY(take(folder)));
}

Result<void> SweepLock::write(const Sweep& sweep) const {
  return write_private_file(folder_ / run::files::kSweep, PL_TRY(to_document(sweep)));
}

Result<TaskClaim> TaskClaim::take(const fs::path& folder, std::int64_t job,
                                  const Interrupt& interrupt, const std::function<void()>& waits) {
  constexpr int kStepMs = 200;
  const fs::path path = task_file(folder, job, ".lock");
  FileDescriptor file = PL_TRY(open_lock(path));
  for (bool waited = false; !PL_TRY(try_lock(file, path)); waited = true) {
    if (!waited && waits) waits();
    pollfd asked{interrupt.requested_fd(), POLLIN, 0};
    ::poll(&asked, 1, kStepMs);
    if (interrupt.requested()) {
      return Error(ErrorKind::Cancelled, "stopped while another process worked on the job");
    }
  }
  TaskClaim claim(task_file(folder, job, ".json"), std::move(file));
  claim.task = PL_TRY(read_task(folder, job));
  return claim;
}

Result<void> TaskClaim::save() const {
  return write_private_file(file_, PL_TRY(to_document(task)));
}

Result<void> TaskClaim::begin(Attempt attempt) {
  for (Attempt& earlier : task.attempts) {
    if (earlier.end != End::Open || !earlier.why.empty()) continue;
    earlier.why = "ended without a record: it was killed, or its node failed";
  }
  task.attempts.push_back(std::move(attempt));
  return save();
}

Result<void> TaskClaim::end(End how, ExitCode code, std::string why, const std::string& time) {
  Attempt& last = task.attempts.back();
  last.end = how;
  last.exit_code = static_cast<int>(code);
  last.why = std::move(why);
  last.ended = time;
  return save();
}

Result<void> TaskClaim::amend(End how, std::string why) {
  task.attempts.back().end = how;
  task.attempts.back().why = std::move(why);
  return save();
}

std::optional<ExitCode> finished(const Task& task, std::int64_t submission) {
  if (task.attempts.empty()) return std::nullopt;
  const Attempt& last = task.attempts.back();
  if (last.end != End::Done || last.submission < submission) return std::nullopt;
  return static_cast<ExitCode>(last.exit_code.value_or(0));
}

std::int64_t timeouts(const Task& task, std::int64_t submission) {
  return std::count_if(task.attempts.begin(), task.attempts.end(), [&](const Attempt& attempt) {
    return attempt.submission == submission && attempt.end == End::TimeLimit;
  });
}

}  // namespace profline::sweep
