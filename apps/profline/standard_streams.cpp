#include "standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>

#include "base/error.h"
#include "base/files.h"

namespace profline {
namespace {

/// The previous action of the signal.
void (*ignore(int signal))(int) {
  struct sigaction ignoring {};
  ignoring.sa_handler = SIG_IGN;
  struct sigaction before {};
  ::sigaction(signal, &ignoring, &before);
  return before.sa_handler;
}

/// A closed descriptor is taken by /dev/null, opened in the wrong mode: using it still fails.
void occupy(int fd) {
  if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) return;
  const int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
  static_cast<void>(
      ::open("/dev/null", mode));  // takes the lowest free descriptor, which is this one
}

Error cannot_write(int error_number) {
  Error error(ErrorKind::Io,
              "cannot write the result to standard output: " + os_error_words(error_number));
  return error_number == EPIPE ? std::move(error).with_reason(kPipeClosed) : error;
}

}  // namespace

ClosedPipe prepare_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) occupy(fd);
  ignore(SIGXFSZ);
  return ignore(SIGPIPE) == SIG_IGN ? ClosedPipe::IsAnError : ClosedPipe::EndsBySignal;
}

Result<void> print_result(std::string_view text) {
  if (const int failed = write_all(STDOUT_FILENO, text)) return cannot_write(failed);
  return {};
}

Result<void> check_result_arrived() {
  const int copy = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (copy < 0 || ::close(copy) == 0 || errno == EINTR) return {};
  return cannot_write(errno);
}

void print_remark(std::string_view line) {
  static_cast<void>(write_all(STDERR_FILENO, std::string(line) + '\n'));
}

void end_by_closed_pipe() {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &usual, nullptr);
  ::raise(SIGPIPE);
}

}  // namespace profline
