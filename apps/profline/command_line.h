#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "base/error.h"
#include "session/run_preparation.h"
#include "verb.h"

namespace profline {

// Options that several commands share, and their values.

/// The options that choose a configuration; the words are the overrides, and a program after `--`
/// becomes one.
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

/// The interpreted command line.
struct Understood {
  enum class Kind {
    Run,              ///< the command
    Show,             ///< print `shown`: help or the version
    ShellCompletion,  ///< `--shell-completion`
  };
  Kind kind = Kind::Run;
  const Verb* verb = nullptr;
  Invocation invocation{};
  std::string shown{};
};

/// The grammar of profline: its commands and options.
class CommandLine {
 public:
  /// The verbs must outlive it.
  explicit CommandLine(const std::vector<std::unique_ptr<Verb>>& verbs);

  Result<Understood> parse(const std::vector<std::string>& arguments) const;

  /// The commands; the options of all commands; those common to all; those that one command takes.
  const std::vector<std::unique_ptr<Verb>>& verbs() const { return verbs_; }
  const std::vector<Option>& every_option() const { return every_option_; }
  const std::vector<Option>& shared_options() const { return common_; }
  std::vector<Option> options_of(const Verb& verb) const;
  /// The two-word commands that begin with this word.
  std::vector<const Verb*> group(std::string_view word) const;
  /// The command that the words and options select, whose own words are removed; a null pointer if
  /// they select none.
  const Verb* take_verb(Arguments& arguments) const;

 private:
  const Verb* find_verb(std::string_view name) const;
  const Verb* take_named_verb(std::vector<std::string>& words) const;
  Result<const Verb*> chosen_verb(Arguments& arguments) const;
  Result<void> check_options(const Verb& verb, const Arguments& arguments) const;
  Result<void> check_program(const Arguments& given) const;
  NearMissRules near_miss_rules() const;
  Result<std::string> help_for(Arguments& given) const;
  /// All verbs without words, those of a group, or the one that the words name.
  Result<std::vector<const Verb*>> verbs_called(Arguments& given) const;

  const std::vector<std::unique_ptr<Verb>>& verbs_;
  std::vector<Option> common_;
  std::vector<Option> every_option_;
};

/// Whether text on the stream may have colours: as `--color` says, by default on a terminal unless
/// NO_COLOR is set.
bool wants_color(const std::optional<std::string>& choice, int file_descriptor);

/// Runs profline with these arguments (without the program's name): picks the command, prints its
/// result to stdout and an Error to stderr, and returns the exit code.
ExitCode run_program(const std::vector<std::string>& arguments);

}  // namespace profline
