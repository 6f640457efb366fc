#include "process/internal/supervision.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/files.h"
#include "process/internal/guardian.h"
#include "process/runner.h"

namespace profline::internal {
namespace {

constexpr mode_t kMode = 0666;       // minus the user's umask
constexpr mode_t kOwnerOnly = 0600;  // programs print command lines, and worse

Error cannot_write(const std::filesystem::path& path, int error) {
  return Error(ErrorKind::Io, "cannot write output to '" + path.string() + "': " + strerror(error));
}

Result<FileDescriptor> nameless_file() {
  const std::filesystem::path folder = PL_TRY(temporary_folder());
  FileDescriptor file = above_stdio(
      FileDescriptor(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600)));
  if (file.is_open()) return file;
  // Not every file system supports O_TMPFILE.
  std::string name = (folder / "profline-XXXXXX").string();
  file = above_stdio(FileDescriptor(::mkostemp(name.data(), O_APPEND | O_CLOEXEC)));
  if (!file.is_open()) return cannot_write(name, errno);
  ::unlink(name.c_str());
  return file;
}

using Clock = std::chrono::steady_clock;

/// These processes became our children by accident; there is no descriptor to poll for their end.
void pause_shortly() {
  constexpr int kPauseMs = 5;
  ::poll(nullptr, 0, kPauseMs);
}

class Orphans {
 public:
  Orphans(const ProcessStat& guardian, pid_t main) : guardian_(guardian), main_(main) {}

  /// Signals all of them until none is left (true) or the time is up.
  bool end(int signal, bool repeatedly, std::chrono::milliseconds at_most) {
    const auto deadline = Clock::now() + at_most;
    bool first = true;
    while (true) {
      const std::vector<ProcessStat> present = list();
      if (present.empty()) return true;
      if (Clock::now() >= deadline) return false;
      if (first || repeatedly) {
        for (const ProcessStat& process : present) send(process, signal);
      }
      first = false;
      pause_shortly();
    }
  }

  std::vector<Leftover> signalled() && {
    for (Leftover& leftover : signalled_) {
      ProcessStat process;
      leftover.survived = read_process(leftover.pid, process) && !process.is_zombie();
    }
    return std::move(signalled_);
  }

 private:
  /// Also reaps those that have ended and are our children.
  std::vector<ProcessStat> list() const {
    std::vector<ProcessStat> roots;
    std::vector<ProcessStat> all;
    ProcessList pids;
    while (const pid_t pid = pids.next()) {
      ProcessStat process;
      if (pid == main_ || !read_process(pid, process)) continue;
      if (is_root(process)) {
        if (process.is_zombie()) {
          ::waitpid(pid, nullptr, WNOHANG);
          continue;
        }
        roots.push_back(process);
      }
      if (!process.is_zombie()) all.push_back(process);
    }
    const auto is_no_orphan = [&](const ProcessStat& process) {
      return std::none_of(roots.begin(), roots.end(), [&](const ProcessStat& root) {
        return process.pid == root.pid || descends_from(process, root.pid);
      });
    };
    if (roots.empty()) return {};
    all.erase(std::remove_if(all.begin(), all.end(), is_no_orphan), all.end());
    return all;
  }

  bool is_root(const ProcessStat& process) const {
    return process.parent == ::getpid() && process.start_ticks >= guardian_.start_ticks &&
           process.pid != guardian_.pid && std::string_view(process.name.data()) != kGuardianName;
  }

  void send(const ProcessStat& process, int signal) {
    ::kill(process.pid, signal);
    ::kill(process.pid, SIGCONT);
    const auto same = [&](const Leftover& known) { return known.pid == process.pid; };
    if (std::none_of(signalled_.begin(), signalled_.end(), same)) {
      signalled_.push_back({process.pid, process.name.data(), false});
    }
  }

  ProcessStat guardian_;
  pid_t main_;
  std::vector<Leftover> signalled_;
};

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::hours(24 * 3650);  // no overflow
constexpr std::chrono::milliseconds kKillAgain{20};  // for processes forked meanwhile

std::chrono::microseconds duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

/// For poll(): rounded up, to avoid spinning through the last millisecond.
int milliseconds_until(std::chrono::steady_clock::time_point when) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(when - std::chrono::steady_clock::now());
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(1);
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLongest).count());
}

}  // namespace

Result<OutputLog> OutputLog::open(const std::filesystem::path& path) {
  if (path.empty()) return OutputLog(PL_TRY(nameless_file()));
  // One open file for both streams, in append mode, to keep the order of the output.
  FileDescriptor file = above_stdio(
      FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kOwnerOnly)));
  if (!file.is_open()) return cannot_write(path, errno);
  return OutputLog(std::move(file));
}

OutputLog::OutputLog(FileDescriptor file)
    : file_(std::move(file)), start_(size()), seen_(start_), given_back_(kLogHeadBytes) {}

std::uint64_t OutputLog::size() const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0 || status.st_size < 0) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

std::string OutputLog::read_between(std::uint64_t from, std::uint64_t to) const {
  from = std::max(from, to - std::min<std::uint64_t>(to, Exit::kTailBytes));
  if (from >= to) return {};
  std::string bytes(to - from, '\0');
  std::size_t length = 0;
  while (length < bytes.size()) {
    const ssize_t got = ::pread(file_.get(), bytes.data() + length, bytes.size() - length,
                                static_cast<off_t>(from + length));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;  // truncated by someone else, or not readable
    length += static_cast<std::size_t>(got);
  }
  bytes.resize(length);
  return bytes;
}

/// The child keeps appending, so nothing can be moved; a hole needs no move. Without holes (some
/// network file systems) the file is cut after the child has ended.
void OutputLog::give_back_middle(std::uint64_t end) {
  constexpr std::uint64_t kStep = std::uint64_t{8} << 20U;
  if (end < given_back_ + kLogTailBytes + kStep) return;
  const std::uint64_t upto = end - kLogTailBytes;
  static_cast<void>(::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(given_back_),
                                static_cast<off_t>(upto - given_back_)));
  given_back_ = upto;
}

std::string OutputLog::new_bytes() {
  const std::uint64_t end = size();
  std::string bytes = read_between(seen_, end);
  seen_ = end;
  give_back_middle(end);
  return bytes;
}

std::string OutputLog::tail() const {
  return read_between(start_, size());
}

Result<FileDescriptor> create_output(const std::filesystem::path& path) {
  FileDescriptor file = above_stdio(
      FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode)));
  if (!file.is_open()) return cannot_write(path, errno);
  return file;
}

bool wait_for_child(pid_t pid, std::chrono::milliseconds at_most, int& status, rusage& usage) {
  const auto deadline = Clock::now() + at_most;
  while (true) {
    const pid_t ended = ::wait4(pid, &status, WNOHANG, &usage);
    if (ended == pid) return true;
    if (ended < 0 && errno != EINTR) return false;
    if (Clock::now() >= deadline) return false;
    pause_shortly();
  }
}

std::vector<Leftover> end_orphans(const ProcessStat& guardian, pid_t main, const StopRules& rules) {
  Orphans orphans(guardian, main);
  if (!orphans.end(SIGTERM, false, rules.terminate_grace)) {
    orphans.end(SIGKILL, true, rules.kill_wait);
  }
  return std::move(orphans).signalled();
}

Supervision::Supervision(const Subject& subject, const GuardianNews& started)
    : subject_(subject), started_at_(started.at_ns), next_tick_(Clock::now() + kTick) {
  exit_.pid = started.pid;
}

Exit Supervision::run() {
  std::optional<Clock::time_point> deadline;
  if (subject_.timeout) {
    deadline = Clock::time_point(started_at_) + std::min(*subject_.timeout, kLongestTimeout);
  }
  const Wake wake = wait(&Supervision::main_done_, deadline, subject_.interrupt.requested_fd());
  if (wake != Wake::Done) {
    exit_.why = wake == Wake::Deadline ? Exit::Why::TimedOut : Exit::Why::Cancelled;
    if (wake == Wake::Deadline) exit_.time_limit = *subject_.timeout;
    stop_main();
  }
  end_others();
  if (guardian_lost_) recover_without_guardian();
  if (subject_.observer != nullptr) tick();
  exit_.tail = subject_.log.tail();
  return std::move(exit_);
}

/// Waits until the flag is set, `deadline` has passed or `interrupt_fd` (-1: none) is readable.
Supervision::Wake Supervision::wait(bool Supervision::*done,
                                    std::optional<Clock::time_point> deadline, int interrupt_fd) {
  while (!(this->*done)) {
    int timeout_ms = -1;
    if (deadline) {
      timeout_ms = milliseconds_until(*deadline);
      if (timeout_ms == 0) return Wake::Deadline;
    }
    if (subject_.observer != nullptr) {
      if (Clock::now() >= next_tick_) tick();
      const int tick_ms = milliseconds_until(next_tick_);
      timeout_ms = timeout_ms < 0 ? tick_ms : std::min(timeout_ms, tick_ms);
    }
    std::array<pollfd, 2> events{{{subject_.guardian.fd(), POLLIN, 0}, {interrupt_fd, POLLIN, 0}}};
    if (::poll(events.data(), events.size(), timeout_ms) <= 0) continue;
    if (events[0].revents != 0) {
      take_news();
    } else if (events[1].revents != 0) {
      return Wake::Interrupted;
    }
  }
  return Wake::Done;
}

void Supervision::take_news() {
  const std::optional<GuardianNews> news = subject_.guardian.next_news();
  if (!news) {
    guardian_lost_ = main_done_ = others_done_ = true;
    return;
  }
  switch (news->kind) {
    case GuardianNews::Kind::MainEnded:
      note_main_ended(news->status, news->usage);
      exit_.wall = std::chrono::nanoseconds(news->at_ns) - started_at_;
      others_done_ = !news->others_remain;
      break;
    case GuardianNews::Kind::Signalled:
      note_leftover(news->pid, news->name.data());
      break;
    case GuardianNews::Kind::NoneLeft:
      others_done_ = true;
      break;
    case GuardianNews::Kind::Started:
    case GuardianNews::Kind::ForkFailed:
      break;  // came first, and the runner has consumed it
  }
}

void Supervision::tick() {
  subject_.observer->output(subject_.log.new_bytes());
  next_tick_ = Clock::now() + kTick;
}

void Supervision::stop_main() {
  struct Step {
    int signal;
    std::chrono::milliseconds grace;
  };
  const std::array steps{Step{SIGINT, subject_.rules.interrupt_grace},
                         Step{SIGTERM, subject_.rules.terminate_grace},
                         Step{SIGKILL, subject_.rules.kill_wait}};
  for (const Step& step : steps) {
    const bool last = step.signal == SIGKILL;
    if (!last && subject_.interrupt.in_a_hurry()) continue;
    exit_.stopped_by = step.signal;
    subject_.guardian.send({GuardianOrder::Kind::SignalGroup, step.signal});
    const int hurry_fd = last ? -1 : subject_.interrupt.in_a_hurry_fd();
    if (wait(&Supervision::main_done_, Clock::now() + step.grace, hurry_fd) == Wake::Done) return;
  }
}

/// After the end of the child: ends its remaining processes.
void Supervision::end_others() {
  const Interrupt& interrupt = subject_.interrupt;
  const auto end_within = [&](std::chrono::milliseconds time) {
    return wait(&Supervision::others_done_, Clock::now() + time, interrupt.in_a_hurry_fd()) ==
           Wake::Done;
  };
  if (end_within(subject_.rules.settle)) return;
  if (subject_.observer != nullptr && !interrupt.in_a_hurry()) {
    tick();  // so that the observer has all of the child's output
    subject_.observer->outlived();
  }
  if (subject_.observer != nullptr && interrupt.in_a_hurry()) subject_.observer->abandoned();
  if (!interrupt.in_a_hurry()) {
    // Processes that outlived() has ended are not signalled.
    subject_.guardian.send({GuardianOrder::Kind::SignalAll, SIGTERM});
    if (end_within(subject_.rules.terminate_grace)) return;
  }
  kill_others();
}

void Supervision::kill_others() {
  const auto give_up_at = Clock::now() + subject_.rules.kill_wait;
  while (Clock::now() < give_up_at) {
    subject_.guardian.send({GuardianOrder::Kind::SignalAll, SIGKILL});
    if (wait(&Supervision::others_done_, Clock::now() + kKillAgain, -1) == Wake::Done) return;
  }
  subject_.guardian.send({GuardianOrder::Kind::Leave, 0});
  for (Leftover& leftover : exit_.leftovers) {
    ProcessStat process;
    leftover.survived = read_process(leftover.pid, process) && !process.is_zombie();
  }
}

/// The child got SIGKILL when its guardian died; it and its remaining processes are ours now.
void Supervision::recover_without_guardian() {
  const ProcessStat guardian = subject_.guardian.process();
  subject_.guardian.reap();  // its children are ours once this returns
  if (!main_ended()) {
    exit_.why = Exit::Why::GuardianLost;
    exit_.stopped_by.reset();
    int status = 0;
    rusage usage{};
    if (wait_for_child(exit_.pid, subject_.rules.kill_wait, status, usage)) {
      note_main_ended(status, usage);
    }
    exit_.wall = Clock::now().time_since_epoch() - started_at_;
  }
  for (const Leftover& orphan : end_orphans(guardian, exit_.pid, subject_.rules)) {
    note_leftover(orphan.pid, orphan.name.c_str());
    exit_.leftovers.back().survived = orphan.survived;
  }
}

void Supervision::note_main_ended(int status, const rusage& usage) {
  constexpr std::uint64_t kKibibyte = 1024;
  main_done_ = true;
  if (WIFEXITED(status)) {
    exit_.code = WEXITSTATUS(status);
  } else {
    exit_.signal = WTERMSIG(status);
    exit_.core_dumped = WCOREDUMP(status);
  }
  exit_.cpu_user = duration_of(usage.ru_utime);
  exit_.cpu_system = duration_of(usage.ru_stime);
  exit_.max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * kKibibyte;
}

void Supervision::note_leftover(pid_t pid, const char* name) {
  const auto same = [pid](const Leftover& leftover) { return leftover.pid == pid; };
  if (pid == exit_.pid || std::any_of(exit_.leftovers.begin(), exit_.leftovers.end(), same)) return;
  exit_.leftovers.push_back({pid, name, false});
}

}  // namespace profline::internal
