#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace profline {

/// Runs profline with these arguments (without the program's name): picks the command, prints its
/// result to stdout and an Error to stderr, and returns the exit code.
ExitCode run_program(const std::vector<std::string>& arguments);

}  // namespace profline
