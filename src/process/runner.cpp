#include "process/runner.h"

#include <sys/mman.h>

#include <cstring>

#include "base/error.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"

namespace profline {
namespace {

std::string duration_text(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

std::string killed_by(const Exit& exit) {
  return "killed by " + signal_name(*exit.signal) + (exit.core_dumped ? " (core dumped)" : "");
}

std::string exited_with(const Exit& exit) {
  std::string text = "exited with code " + std::to_string(*exit.code);
  if (exit.stopped_by) text += " on " + signal_name(*exit.stopped_by);
  return text;
}

std::string end_of(const Exit& exit, const char* verb_of_kill) {
  if (exit.code) return exited_with(exit);
  if (exit.signal) return verb_of_kill + killed_by(exit);
  return "is still running as pid " + std::to_string(exit.pid) + ": not even SIGKILL ended it";
}

}  // namespace

std::string Exit::describe() const {
  switch (why) {
    case Why::Own:
      return end_of(*this, "");
    case Why::TimedOut:
      return "timed out after " + duration_text(time_limit) + " and " + end_of(*this, "was ");
    case Why::Cancelled:
      return "cancelled and " + end_of(*this, "");
    case Why::GuardianLost:
      return "lost its guardian process and " + end_of(*this, "was ");
  }
  return {};
}

std::string Exit::describe_leftovers() const {
  if (leftovers.empty()) return {};
  std::string ended;
  std::string surviving;
  for (const Leftover& leftover : leftovers) {
    std::string& list = leftover.survived ? surviving : ended;
    if (!list.empty()) list += ", ";
    list += leftover.name + " (pid " + std::to_string(leftover.pid) + ')';
  }
  std::string text = "left " + counted(leftovers.size(), "orphaned process");
  if (!ended.empty()) text += ", ended: " + ended;
  if (!surviving.empty()) text += ", still running: " + surviving;
  return text;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

Result<Exit> ProcessRunner::run(const Command& command) {
  PL_TRY(check(command));
  return run_checked(command, nullptr);
}

Result<Exit> ProcessRunner::run(const Command& command, RunObserver& observer) {
  PL_TRY(check(command));
  return run_checked(command, &observer);
}

Result<std::string> output_of(ProcessRunner& runner, std::vector<std::string> argv,
                              std::chrono::milliseconds limit) {
  // In memory, under a name that the runner can open: answers are short and private.
  const FileDescriptor memory(::memfd_create("answer", MFD_CLOEXEC));
  if (!memory.is_open()) return os_error("keep the output of", argv.front(), errno);
  Command command{.argv = std::move(argv)};
  command.out = "/proc/self/fd/" + std::to_string(memory.get());
  command.timeout = limit;
  command.stop_briefly = true;
  const Exit exit = PL_TRY(runner.run(command));
  std::string answer = PL_TRY(read_file(command.out));
  if (exit.succeeded()) return answer;
  const std::string said = std::string(trim(answer + exit.tail));
  return Error(ErrorKind::Tool, "'" + display({.argv = command.argv}) + "' " + exit.describe() +
                                    (said.empty() ? "" : ": " + said));
}

}  // namespace profline
