#pragma once

#include <memory>
#include <string>
#include <vector>

#include "verb.h"

namespace profline {

/// What the user typed, understood.
struct Understood {
  enum class Kind {
    Run,              ///< the command
    Show,             ///< `shown`, which is help or the version
    ShellCompletion,  ///< what `--shell-completion` and its words ask for
  };
  Kind kind = Kind::Run;
  const Verb* verb = nullptr;
  Invocation invocation{};
  std::string shown{};
};

/// The commands and options of profline as one language.
class CommandLine {
 public:
  /// The verbs must outlive it.
  explicit CommandLine(const std::vector<std::unique_ptr<Verb>>& verbs);

  Result<Understood> parse(const std::vector<std::string>& arguments) const;

  /// The commands, those of any command's options that are on a line, and what a command takes.
  const std::vector<std::unique_ptr<Verb>>& verbs() const { return verbs_; }
  const std::vector<Option>& every_option() const { return every_option_; }
  const std::vector<Option>& shared_options() const { return common_; }
  std::vector<Option> options_of(const Verb& verb) const;
  /// Commands of two words that begin with this one.
  std::vector<const Verb*> group(std::string_view word) const;
  /// The command that the words and options mean; a null pointer when they do not say. Its own
  /// words are taken out.
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

/// True when text on the stream may have colours: as `--color` says, and on a terminal unless
/// NO_COLOR is set.
bool wants_color(const std::optional<std::string>& choice, int file_descriptor);

}  // namespace profline
