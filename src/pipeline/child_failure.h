#pragma once

#include <string>

#include "pipeline/finding.h"
#include "pipeline/stage.h"
#include "process/exit.h"

namespace profline::pipeline {

/// What there is to say of a child that ended and did not succeed, in the user's words: which it
/// was, how it ended, the last it said, and where the rest is.
Finding child_problem(const PlannedCommand& planned, const Exit& exit);

/// The last line of a child's output that says anything; cut where it is too long to read.
std::string last_words(const std::string& tail);

}  // namespace profline::pipeline
