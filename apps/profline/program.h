#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace profline {

/// profline, given its arguments without the program's name: picks the command, prints its result
/// to stdout and an Error to stderr, and says what to return to the shell.
ExitCode run_program(const std::vector<std::string>& arguments);

}  // namespace profline
