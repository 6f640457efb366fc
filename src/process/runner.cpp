#include "process/runner.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"

namespace profline {
namespace {

/// Characters that mean nothing to any shell inside a word; see needs_quotes for its start.
bool is_plain(char c) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

bool needs_quotes(std::string_view word) {
  // zsh replaces =ls with the path of ls.
  return word.empty() || word.front() == '=' || !std::all_of(word.begin(), word.end(), is_plain);
}

std::string in_quotes(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + '\'';
}

std::string shell_word(std::string_view word) {
  return needs_quotes(word) ? in_quotes(word) : std::string(word);
}

/// As shell_word, for the first word of a command, where a=b would be an assignment.
std::string shell_program(std::string_view word) {
  return word.find('=') != std::string_view::npos ? in_quotes(word) : shell_word(word);
}

Result<void> check_variable(const std::string& name) {
  if (!name.empty() && name.find('=') == std::string::npos && name.find('\0') == std::string::npos)
    return {};
  return Error(ErrorKind::Config, "environment variable " + shell_word(name) +
                                      ": a name must not be empty or contain '=' or NUL");
}

Result<void> check_text(const std::string& text, const std::string& what) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string::npos) return {};
  return Error(ErrorKind::Config, what + " contains a NUL byte at offset " + std::to_string(nul) +
                                      ", which would cut it off");
}

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

Result<void> check(const Command& command) {
  if (command.argv.empty() || command.argv.front().empty()) {
    return Error(ErrorKind::Config, "the command has no program to run");
  }
  for (std::size_t i = 0; i < command.argv.size(); ++i) {
    PL_TRY(check_text(command.argv[i], "argument " + std::to_string(i) + " of " +
                                           shell_word(command.argv.front().c_str())));
  }
  for (const auto& [name, value] : command.env) {
    PL_TRY(check_variable(name));
    PL_TRY(check_text(value, "environment variable " + name));
  }
  for (const std::string& name : command.unset_env) PL_TRY(check_variable(name));
  for (const std::filesystem::path* path : {&command.cwd, &command.log, &command.out}) {
    PL_TRY(check_text(path->native(), "path " + shell_word(path->c_str())));
  }
  return {};
}

std::string display(const Command& command) {
  std::string text;
  if (!command.cwd.empty()) {
    // `cd -` and `cd -P` mean something else, so the path gets a `./` in front.
    const bool like_an_option = command.cwd.native().front() == '-';
    text += "cd " + shell_word((like_an_option ? "./" : "") + command.cwd.native()) + " && ";
  }
  if (!command.env.empty() || !command.unset_env.empty()) {
    text += "env ";
    for (const std::string& name : command.unset_env) text += "-u " + shell_word(name) + ' ';
    for (const auto& [name, value] : command.env) {
      // Quotes only the value: PATH='a b' reads better than 'PATH=a b', and is the same word.
      text += shell_word(name) + '=' + shell_word(value) + ' ';
    }
  }
  for (std::size_t i = 0; i < command.argv.size(); ++i) {
    text += i == 0 ? shell_program(command.argv[i]) : ' ' + shell_word(command.argv[i]);
  }
  return text;
}

Command redacted(Command command, const Redactor& redactor) {
  command.argv = redactor.words(command.argv);
  command.env = redactor.variables(command.env);
  return command;
}

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
