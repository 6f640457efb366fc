#include "testing/processes/children.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "base/strings.h"
#include "testing/paths.h"

namespace profline::process_test {

Command child(std::vector<std::string> script) {
  Command command;
  command.argv = {(testing::binary_dir() / "tests/process_test_child").string()};
  command.argv.insert(command.argv.end(), script.begin(), script.end());
  return command;
}

StopRules patience_ends_at(int signal) {
  StopRules rules;
  rules.interrupt_grace = signal == SIGINT ? kLong : kShort;
  rules.terminate_grace = signal == SIGTERM ? kLong : kShort;
  rules.kill_wait = kLong;
  rules.settle = kShort;
  return rules;
}

void WhenSaid::output(std::string_view bytes) {
  said += bytes;
  if (action_ && said.find(text_) != std::string::npos) std::exchange(action_, nullptr)();
}

pid_t pid_said(const std::string& output, const std::string& name) {
  for (const std::string_view line : lines(output)) {
    if (line.substr(0, name.size() + 1) != name + '=') continue;
    return static_cast<pid_t>(std::stol(std::string(line.substr(name.size() + 1))));
  }
  return 0;
}

bool has_ended(pid_t pid) {
  if (pid <= 0) return false;
  const FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  if (!process.is_open()) return errno == ESRCH;
  pollfd event{process.get(), POLLIN, 0};
  const bool ended = ::poll(&event, 1, static_cast<int>(kLong.count())) == 1;
  if (ended) ::waitpid(pid, nullptr, WNOHANG);
  return ended;
}

std::vector<pid_t> own_children() {
  std::vector<pid_t> children;
  ProcessList list;
  while (const pid_t pid = list.next()) {
    ProcessStat process;
    if (read_process(pid, process) && process.parent == ::getpid()) children.push_back(pid);
  }
  return children;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator folder("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

}  // namespace profline::process_test
