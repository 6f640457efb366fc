#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/redaction.h"
#include "base/result.h"

namespace profline {

/// A child process to run. There is no shell: each element of argv reaches the child verbatim.
struct Command {
  /// The program and its arguments. A program without a slash is sought in the child's PATH; a
  /// relative one is relative to `cwd`, as it would be after a `cd`.
  std::vector<std::string> argv;
  std::map<std::string, std::string> env{};  ///< added to, and overriding, our own
  std::vector<std::string> unset_env{};      ///< taken out of our own, before `env` is added
  std::filesystem::path cwd{};               ///< empty: ours
  /// stdout and stderr are appended here as they come. Empty: a temporary file without a name, of
  /// which only Exit::tail remains.
  std::filesystem::path log{};
  std::filesystem::path out{};  ///< when set: stdout alone, the file made anew
  std::optional<std::chrono::milliseconds> timeout{};
  /// It has nothing to put in order, as what only answers a question: when it is to stop, it gets a
  /// tenth of a second after each signal.
  bool stop_briefly = false;
};

/// Whether anybody could run it: there is a program, no text holds a NUL byte (the child would see
/// it cut short), names of variables are names.
Result<void> check(const Command& command);

/// The command for a human to read and paste into a POSIX shell:
///   cd /tmp && env -u LANG A='b c' nsys profile 'my app'
/// One line, unless an argument holds a line break. We never execute this text.
std::string display(const Command& command);

/// The command without the secrets of its arguments and variables, to be shown or written down.
Command redacted(Command command, const Redactor& redactor);

}  // namespace profline
