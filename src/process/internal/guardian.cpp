#include "process/internal/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/strings.h"
#include "process/runner.h"

namespace profline::internal {
namespace {

Error no_guardian(int error) {
  return Error(ErrorKind::Io, std::string("cannot start a guardian process: ") + strerror(error));
}

/// Blocks every signal in this thread: between fork and guardian_main no handler of ours may run in
/// the guardian.
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

/// Our environment with the command's changes, as `NAME=value`; sorted, so that every run of a
/// command sees the same order.
std::vector<std::string> merged_environment(const Command& command) {
  std::map<std::string, std::string, std::less<>> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    merged.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const std::string& name : command.unset_env) merged.erase(name);
  for (const auto& [name, value] : command.env) merged.insert_or_assign(name, value);
  std::vector<std::string> entries;
  entries.reserve(merged.size());
  for (const auto& [name, value] : merged) entries.emplace_back(name).append("=").append(value);
  return entries;
}

std::string path_for(const Command& command) {
  const auto set = command.env.find("PATH");
  if (set != command.env.end()) return set->second;
  const auto& unset = command.unset_env;
  return std::find(unset.begin(), unset.end(), "PATH") != unset.end() ? default_path() : own_path();
}

/// execve takes char*, but does not write through it.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Error folder_error(const std::filesystem::path& cwd, int error) {
  const std::string start = "cannot run in folder '" + cwd.string() + "': ";
  if (error == ENOENT) return Error(ErrorKind::NotFound, start + "it does not exist");
  if (error == ENOTDIR) return Error(ErrorKind::Config, start + "it is not a folder");
  return Error(ErrorKind::Io, start + strerror(error));
}

Result<void> check_folder(const std::filesystem::path& cwd) {
  if (cwd.empty()) return {};
  struct stat status {};
  if (::stat(cwd.c_str(), &status) != 0) return folder_error(cwd, errno);
  if (!S_ISDIR(status.st_mode)) return folder_error(cwd, ENOTDIR);
  if (::access(cwd.c_str(), X_OK) != 0) return folder_error(cwd, errno);
  return {};
}

std::size_t bytes_in(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size() + 1;
  return bytes;
}

/// `/bin/nosh` for a script that starts with `#!/bin/nosh -e`; empty for other files.
std::string interpreter_of(const std::filesystem::path& script) {
  std::ifstream file(script, std::ios::binary);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (line.rfind("#!", 0) != 0) return {};
  const std::string_view rest = trim(std::string_view(line).substr(2, line.find('\n') - 2));
  return std::string(rest.substr(0, rest.find_first_of(" \t")));
}

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
  read_process(pid, process_);  // not reaped, so it exists
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
  // ECHILD, if our own parent made us ignore SIGCHLD, also means that it has ended.
  while (::waitpid(process_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_.pid = 0;
}

Result<ExecImage> ExecImage::of(const Command& command) {
  PL_TRY(check_folder(command.cwd));
  ExecImage image(command);
  // Absolute, because the child searches for it after changing folders.
  std::error_code error;
  const std::filesystem::path found =
      PL_TRY(find_program(command.argv.front(), path_for(command), command.cwd));
  image.program_ = std::filesystem::absolute(found, error);
  if (error) return Error(ErrorKind::Io, "cannot determine the current folder: " + error.message());
  image.env_ = merged_environment(command);
  image.argv_pointers_ = pointers_to(command.argv);
  image.env_pointers_ = pointers_to(image.env_);
  return image;
}

void ExecImage::describe_to(LaunchPlan& plan) const {
  plan.program = program_.c_str();
  plan.argv = argv_pointers_.data();
  plan.envp = env_pointers_.data();
  plan.cwd = command_->cwd.empty() ? nullptr : command_->cwd.c_str();
}

Error ExecImage::error_of(const LaunchFailure& failure) const {
  if (failure.step == LaunchFailure::Step::ChangeFolder) {
    return folder_error(command_->cwd, failure.error);
  }
  const std::string start = "cannot run '" + program_.string() + "': ";
  switch (failure.error) {
    case E2BIG:
      return Error(ErrorKind::Config,
                   start + "its arguments (" + std::to_string(bytes_in(command_->argv)) +
                       " bytes) and environment (" + std::to_string(bytes_in(env_)) +
                       " bytes), or one of them alone, are longer than the system allows");
    case ENOEXEC:
      return Error(ErrorKind::Io, start +
                                      "it is neither a program for this machine nor a script that "
                                      "starts with #!");
    case ENOENT: {
      const std::string interpreter = interpreter_of(program_);
      return Error(
          ErrorKind::NotFound,
          start + (interpreter.empty() ? "the file, or the loader it needs, does not exist"
                                       : "its interpreter '" + interpreter + "' does not exist"));
    }
    default:
      return Error(ErrorKind::Io, start + strerror(failure.error));
  }
}

}  // namespace profline::internal
