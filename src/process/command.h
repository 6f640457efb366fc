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
  /// The program and its arguments. A program without a slash is searched for in the child's PATH;
  /// a relative path is relative to `cwd`, as after a `cd`.
  std::vector<std::string> argv;
  std::map<std::string, std::string> env{};  ///< added to our own, overriding it
  std::vector<std::string> unset_env{};      ///< removed from our own, before `env` is added
  std::filesystem::path cwd{};               ///< empty: ours
  /// stdout and stderr are appended here as they arrive. Empty: an unnamed temporary file, of which
  /// only Exit::tail remains.
  std::filesystem::path log{};
  std::filesystem::path out{};  ///< when set: stdout alone goes to a new file
  std::optional<std::chrono::milliseconds> timeout{};
  /// The child has nothing to clean up, because it only answers a query: when it is stopped, it
  /// gets a tenth of a second after each signal.
  bool stop_briefly = false;
};

/// Whether the command can be run at all: there is a program, no text contains a NUL byte (which
/// would cut it off for the child), and names of variables are valid.
Result<void> check(const Command& command);

/// The command for a person to read and paste into a POSIX shell:
///   cd /tmp && env -u LANG A='b c' nsys profile 'my app'
/// One line, unless an argument contains a line break. We never execute this text.
std::string display(const Command& command);

/// The command without the secrets in its arguments and variables, for display and for files.
Command redacted(Command command, const Redactor& redactor);

}  // namespace profline
