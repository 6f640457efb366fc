#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "command_line.h"

namespace profline {

/// A command line that is being typed: the finished words, and the one the cursor is in.
struct UnfinishedLine {
  std::vector<std::string> before;  ///< without the program's name
  std::string word;
};

/// Takes a line apart as a shell does, quotes and backslashes included; what is behind the cursor
/// does not count.
UnfinishedLine unfinished_line(std::string_view line, std::size_t cursor);

/// What the word may become, sorted. A blank at the end of one says that the word is finished then;
/// others go on, as `infer.` and `device=` do.
std::vector<std::string> complete(const UnfinishedLine& line, const CommandLine& command_line);

/// `--shell-completion install=bash`, `uninstall=bash` and `query=bash`. The last is what the
/// installed script calls; it reads COMP_LINE and COMP_POINT from the environment as bash sets
/// them, and PROFLINE_COMP_WORD, the part of the line that bash will replace.
Result<ExitCode> run_shell_completion(const Arguments& arguments, const CommandLine& command_line);

}  // namespace profline
