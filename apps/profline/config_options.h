#pragma once

#include <vector>

#include "arguments.h"
#include "session/run_preparation.h"

/// Options that several commands share, and their values.
namespace profline {

/// The options that choose a configuration; the words are the overrides.
std::vector<Option> config_choice_options();
session::ConfigChoice config_choice(const Arguments& arguments);

/// The options that show a config instead of using it. They belong to the command config, which
/// knows what can be shown: config_command.cpp.
std::vector<Option> config_showing_options();
/// An Error if one of them is given to a command that does something: they need --cfg.
Result<void> check_nothing_is_shown(const Arguments& arguments);

/// The options of commands that run or plan stages.
std::vector<Option> run_options();
/// Names that are paths become absolute, for the run's record.
session::ProgramChoice program_choice(const Arguments& arguments);

}  // namespace profline
