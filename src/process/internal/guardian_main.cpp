// Runs in the guardian and, until exec, in the child. We may have been forked while other threads
// held locks: only system calls and our own code that does not allocate, no stdio, no new.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "process/internal/guardian.h"

namespace profline::internal {
namespace {

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void close_between(int first, int last) noexcept {
  if (first > last) return;
  if (::close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0) == 0) return;
  // For kernels before 5.9. Descriptors are assigned lowest first, so few are close to the limit.
  const long limit = ::sysconf(_SC_OPEN_MAX);
  const int end = static_cast<int>(std::min<long>(last, limit > 0 ? limit : 65536));
  for (int fd = first; fd <= end; ++fd) ::close(fd);
}

/// Descriptors that our other threads had open would otherwise stay open as long as the guardian
/// lives: the far end of another guardian's socket, a pipe to the user's pager.
template <std::size_t N>
void close_all_but(std::array<int, N> kept) noexcept {
  std::sort(kept.begin(), kept.end());
  int next = 0;
  for (const int fd : kept) {
    close_between(next, fd - 1);
    next = fd + 1;
  }
  close_between(next, INT32_MAX);
}

/// By the system call: glibc 2.41 takes a lock in sigaction, which in this copy of the process may
/// be held by a thread that it does not have.
void default_all_signals() noexcept {
  constexpr std::size_t kSignalSetBytes = 8;
  alignas(8) const unsigned char default_action[64] = {};  // the kernel's struct, all zero
  for (int signal = 1; signal < NSIG; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, default_action, nullptr, kSignalSetBytes);
  }
}

[[noreturn]] void give_up(int failures, LaunchFailure::Step step) noexcept {
  const LaunchFailure failure{step, errno};
  [[maybe_unused]] const ssize_t written = ::write(failures, &failure, sizeof failure);
  ::_exit(127);
}

[[noreturn]] void child_main(const LaunchPlan& plan, int failures, pid_t guardian) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guardian) ::_exit(127);  // it died before the line above
  for (int fd = 0; fd < 3; ++fd) ::dup2(plan.stdio[static_cast<std::size_t>(fd)], fd);
  if (plan.cwd != nullptr && ::chdir(plan.cwd) != 0) {
    give_up(failures, LaunchFailure::Step::ChangeFolder);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan.program, plan.argv, plan.envp);
  give_up(failures, LaunchFailure::Step::Execute);
}

/// A pidfd ensures that the signal cannot reach another process that was given the pid since.
void signal_process(const ProcessStat& process, int signal) noexcept {
  const auto pidfd = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0U));
  if (pidfd < 0) {
    if (errno == ENOSYS) ::kill(process.pid, signal);  // kernels before 5.3
    return;
  }
  ProcessStat now;
  if (read_process(process.pid, now) && now.start_ticks == process.start_ticks) {
    ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0U);
    ::syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, nullptr, 0U);
  }
  ::close(pidfd);
}

class GuardianLife {
 public:
  GuardianLife(const LaunchPlan& plan, int news) noexcept : plan_(plan), news_(news) {
    sigset_t child_signal;
    ::sigemptyset(&child_signal);
    ::sigaddset(&child_signal, SIGCHLD);
    child_events_ = ::signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  [[noreturn]] void live(int failures) noexcept {
    launch(failures);
    while (true) {
      wait_for_event(-1, true);
      reap();
      take_orders();
    }
  }

 private:
  void launch(int failures) noexcept {
    const pid_t guardian = ::getpid();
    const std::int64_t started = now_ns();
    main_ = ::_Fork();
    if (main_ == 0) child_main(plan_, failures, guardian);
    const int error = errno;
    ::close(failures);
    for (const int fd : plan_.stdio) ::close(fd);
    GuardianNews news;
    news.kind = main_ > 0 ? GuardianNews::Kind::Started : GuardianNews::Kind::ForkFailed;
    news.pid = main_;
    news.error = error;
    news.at_ns = started;
    // Done here, because only the guardian can be sure that the child was not reaped yet.
    ProcessStat process;
    if (main_ > 0 && read_process(main_, process)) news.start_ticks = process.start_ticks;
    report(news);
    if (main_ < 0) ::_exit(1);
    // The child does this as well; whoever is first, the group exists before an order arrives.
    ::setpgid(main_, main_);
  }

  void report(const GuardianNews& news) const noexcept {
    while (::send(news_, &news, sizeof news, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
  }

  void wait_for_event(int timeout_ms, bool orders_too) const noexcept {
    std::array<pollfd, 2> events{
        {{child_events_, POLLIN, 0}, {orders_too ? news_ : -1, POLLIN, 0}}};
    ::poll(events.data(), events.size(), timeout_ms);
    signalfd_siginfo ignored{};
    while (::read(child_events_, &ignored, sizeof ignored) > 0) {
    }
  }

  /// Reaps every process that has ended; exits if no other is left.
  void reap() noexcept {
    GuardianNews end;
    pid_t pid = 0;
    int status = 0;
    rusage usage{};
    while ((pid = ::wait4(-1, &status, WNOHANG, &usage)) > 0) {
      if (pid != main_) continue;
      end.kind = GuardianNews::Kind::MainEnded;
      end.pid = pid;
      end.status = status;
      end.at_ns = now_ns();
      end.usage = usage;
    }
    const bool none_left = pid < 0 && errno == ECHILD;
    if (end.kind == GuardianNews::Kind::MainEnded) {
      main_ended_ = true;
      end.others_remain = !none_left;
      report(end);
    }
    if (none_left) {
      report(GuardianNews{});
      ::_exit(0);
    }
  }

  void take_orders() noexcept {
    GuardianOrder order;
    const ssize_t length = ::recv(news_, &order, sizeof order, MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (length != static_cast<ssize_t>(sizeof order)) end_everything();
    switch (order.kind) {
      case GuardianOrder::Kind::SignalGroup:
        signal_group(order.signal);
        break;
      case GuardianOrder::Kind::SignalAll:
        signal_all(order.signal);
        break;
      case GuardianOrder::Kind::Leave:
        ::_exit(0);
    }
  }

  void signal_group(int signal) const noexcept {
    if (main_ended_) return;  // reaped: the group's number may have been reused
    ::kill(-main_, signal);
    ::kill(-main_, SIGCONT);  // a stopped process reacts only to SIGKILL
  }

  void signal_all(int signal) const noexcept {
    const pid_t self = ::getpid();
    ProcessList list;
    while (const pid_t pid = list.next()) {
      ProcessStat process;
      if (!read_process(pid, process) || process.is_zombie() || !descends_from(process, self)) {
        continue;
      }
      GuardianNews news;
      news.kind = GuardianNews::Kind::Signalled;
      news.pid = pid;
      news.name = process.name;
      report(news);
      signal_process(process, signal);
    }
  }

  [[noreturn]] void end_everything() noexcept {
    constexpr int kKillAgainMs = 20;  // for processes forked meanwhile
    wait_until(plan_.terminate_grace, SIGTERM, static_cast<int>(plan_.terminate_grace.count()));
    wait_until(plan_.kill_wait, SIGKILL, kKillAgainMs);
    ::_exit(1);
  }

  /// Sends `signal` to all, again every `again_ms`; returns if some are left after `duration`.
  void wait_until(std::chrono::milliseconds duration, int signal, int again_ms) noexcept {
    const std::int64_t end = now_ns() + std::chrono::nanoseconds(duration).count();
    std::int64_t next_signal = now_ns();
    while (true) {
      reap();
      const std::int64_t now = now_ns();
      if (now >= end) return;
      if (now >= next_signal) {
        signal_all(signal);
        next_signal = now_ns() + std::int64_t{again_ms} * 1'000'000;
      }
      wait_for_event(static_cast<int>((std::min(end, next_signal) - now) / 1'000'000 + 1), false);
    }
  }

  const LaunchPlan& plan_;
  int news_;
  int child_events_ = -1;
  pid_t main_ = -1;
  bool main_ended_ = false;
};

}  // namespace

void guardian_main(const LaunchPlan& plan, int news, int failures) noexcept {
  // A session without a terminal: a prompt for a password fails instead of waiting forever.
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, kGuardianName);
  default_all_signals();  // an inherited, ignored SIGCHLD would lose the child's status
  close_all_but(std::array{news, failures, plan.stdio[0], plan.stdio[1], plan.stdio[2]});
  GuardianLife(plan, news).live(failures);
}

}  // namespace profline::internal
