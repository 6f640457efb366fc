#include "process/internal/guardian.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

#include "process/internal/above_stdio.h"

namespace profline::internal {
namespace {

Error no_guardian(int error) {
  return Error(ErrorKind::Io, std::string("cannot start a guardian process: ") + strerror(error));
}

/// Keeps every signal away from this thread: between fork and guardian_main a handler of ours must
/// not run in the guardian.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Result<Guardian> Guardian::start(const LaunchPlan& plan) {
  std::array<int, 2> sockets{};
  std::array<int, 2> pipe{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return no_guardian(errno);
  }
  FileDescriptor ours(sockets[0]);
  FileDescriptor theirs = above_stdio(FileDescriptor(sockets[1]));
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return no_guardian(errno);
  FileDescriptor failures(pipe[0]);
  FileDescriptor failures_end = above_stdio(FileDescriptor(pipe[1]));
  if (!theirs.is_open() || !failures_end.is_open()) return no_guardian(EMFILE);

  pid_t pid = -1;
  int error = 0;
  {
    const AllSignalsBlocked blocked;
    // _Fork runs no atfork handlers, so other threads may hold any lock.
    pid = ::_Fork();
    error = errno;
    if (pid == 0) guardian_main(plan, theirs.get(), failures_end.get());
  }
  if (pid < 0) return no_guardian(error);
  return Guardian(pid, std::move(ours), std::move(failures));
}

Guardian::Guardian(pid_t pid, FileDescriptor socket, FileDescriptor failures)
    : socket_(std::move(socket)), failures_(std::move(failures)) {
  read_process(pid, process_);  // not reaped, so it is there
  process_.pid = pid;
}

Guardian::Guardian(Guardian&& other) noexcept
    : process_(std::exchange(other.process_, {})),
      socket_(std::move(other.socket_)),
      failures_(std::move(other.failures_)) {}

Guardian::~Guardian() {
  socket_.reset();
  reap();
}

std::optional<LaunchFailure> Guardian::wait_for_exec() {
  LaunchFailure failure;
  ssize_t length = 0;
  do {
    length = ::read(failures_.get(), &failure, sizeof failure);
  } while (length < 0 && errno == EINTR);
  failures_.reset();
  if (length != static_cast<ssize_t>(sizeof failure)) return std::nullopt;
  return failure;
}

void Guardian::send(GuardianOrder order) const {
  while (::send(socket_.get(), &order, sizeof order, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

std::optional<GuardianNews> Guardian::next_news() const {
  GuardianNews news;
  ssize_t length = 0;
  do {
    length = ::recv(socket_.get(), &news, sizeof news, 0);
  } while (length < 0 && errno == EINTR);
  if (length != static_cast<ssize_t>(sizeof news)) return std::nullopt;
  return news;
}

void Guardian::reap() {
  if (process_.pid <= 0) return;
  // ECHILD, when our own parent made us ignore SIGCHLD, also means that it is gone.
  while (::waitpid(process_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_.pid = 0;
}

}  // namespace profline::internal
