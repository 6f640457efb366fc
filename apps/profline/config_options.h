#pragma once

#include <vector>

#include "arguments.h"
#include "session/run_preparation.h"

/// Options that several commands share, and what was given of them.
namespace profline {

/// The options that choose a configuration; the words are the overrides.
std::vector<Option> config_choice_options();
session::ConfigChoice config_choice(const Arguments& arguments);

/// The options that show a config instead of doing something with it. They are the command
/// config's, which knows what there is to show: config_command.cpp.
std::vector<Option> config_showing_options();
/// An Error where one of them is given to a command that does something: they need --cfg.
Result<void> check_nothing_is_shown(const Arguments& arguments);

/// The options of commands that run or plan stages.
std::vector<Option> run_options();
/// Names that are paths come back absolute, as a run remembers them.
session::ProgramChoice program_choice(const Arguments& arguments);

}  // namespace profline
