#include "started_profline.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files.h"
#include "process/process_table.h"
#include "profline_binary.h"

namespace profline::e2e {

namespace fs = std::filesystem;

Started::Started(const fs::path& folder, std::vector<std::string> words,
                 const std::map<std::string, std::string>& env, const std::vector<int>& ignored) {
  words.insert(words.begin(), profline_program().string());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    const bool is_there = ::chdir(folder.c_str()) == 0;
    const FileDescriptor err(open_descriptor("err", O_WRONLY | O_CREAT | O_TRUNC, 0600));
    ::dup2(err.get(), STDERR_FILENO);
    ::dup2(err.get(), STDOUT_FILENO);
    // The test runner may have left signals ignored, as a shell does in the background.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
    for (const int signal : ignored) ::signal(signal, SIG_IGN);
    for (const auto& [name, value] : env) ::setenv(name.c_str(), value.c_str(), 1);
    if (is_there) ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  fd_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
}

Started::~Started() {
  if (pid_ > 0) end(SIGKILL);
}

bool Started::ends_within(std::chrono::milliseconds limit) const {
  pollfd waiting{fd_.get(), POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(limit.count())) == 1;
}

int Started::end(int signal) {
  ::kill(pid_, signal);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool comes_true(const std::function<bool()>& condition, const Started* while_running) {
  using namespace std::chrono_literals;
  for (auto waited = 0ms; waited < 60s; waited += 20ms) {
    if (condition()) return true;
    if (while_running != nullptr && while_running->ends_within(20ms)) return condition();
    if (while_running == nullptr) ::poll(nullptr, 0, 20);
  }
  return false;
}

std::vector<std::string> processes_of(const fs::path& folder) {
  std::error_code failure;
  const fs::path real = fs::canonical(folder, failure);
  const std::string name = failure ? folder.string() : real.string();
  std::vector<std::string> found;
  ProcessList processes;
  for (pid_t pid = processes.next(); pid != 0; pid = processes.next()) {
    ProcessStat stat;
    if (pid == ::getpid() || !read_process(pid, stat) || stat.is_zombie()) continue;
    const fs::path entry = fs::path("/proc") / std::to_string(pid);
    const std::string line = read_file(entry / "cmdline").value_or("");
    const std::string cwd = fs::read_symlink(entry / "cwd", failure).string();
    for (const std::string& text : {line, read_file(entry / "environ").value_or(""), cwd}) {
      if (text.find(name) == std::string::npos) continue;
      std::string words = line;
      for (char& byte : words) byte = byte == '\0' ? ' ' : byte;
      found.push_back(std::to_string(pid) + ": " + words);
      break;
    }
  }
  return found;
}

}  // namespace profline::e2e
