#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/runner.h"

namespace profline {

/// What a program that answers and ends prints to stdout (`nsys --version`). Any other end than
/// exit code 0 within the limit is an Error of kind Tool that quotes what it said.
Result<std::string> output_of(ProcessRunner& runner, std::vector<std::string> argv,
                              std::chrono::milliseconds limit = std::chrono::seconds(20));

}  // namespace profline
