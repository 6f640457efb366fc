#pragma once

#include "base/exit_code.h"
#include "base/result.h"
#include "command_line.h"

namespace profline {

/// `--shell-completion install=bash`, `uninstall=bash` and `query=bash`. The last is what the
/// installed script calls; it reads COMP_LINE and COMP_POINT from the environment as bash sets
/// them, and PROFLINE_COMP_WORD, the part of the line that bash will replace.
Result<ExitCode> run_shell_completion(const Arguments& arguments, const CommandLine& command_line);

}  // namespace profline
