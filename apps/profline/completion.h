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

/// Splits a line as a shell does, including quotes and backslashes; everything after the cursor is
/// ignored.
UnfinishedLine unfinished_line(std::string_view line, std::size_t cursor);

/// The possible completions of the word, sorted. A trailing blank means that the word is complete;
/// others can be extended, such as `infer.` and `device=`.
std::vector<std::string> complete(const UnfinishedLine& line, const CommandLine& command_line);

/// `--shell-completion install=bash`, `uninstall=bash` and `query=bash`. The installed script calls
/// the last one, which reads COMP_LINE and COMP_POINT from the environment as bash sets them, and
/// PROFLINE_COMP_WORD, the part of the line that bash will replace.
Result<ExitCode> run_shell_completion(const Arguments& arguments, const CommandLine& command_line);

}  // namespace profline
