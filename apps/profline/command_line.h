#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verb.h"

namespace profline {

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
  Result<std::string> help_for(Arguments& given) const;

  const std::vector<std::unique_ptr<Verb>>& verbs_;
  std::vector<Option> common_;
  std::vector<Option> every_option_;
};

/// Whether text on the stream may have colours: as `--color` says, by default on a terminal unless
/// NO_COLOR is set.
bool wants_color(const std::optional<std::string>& choice, int file_descriptor);

}  // namespace profline
