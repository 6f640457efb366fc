#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "command_line.h"

namespace profline {

/// A command that only shows text and so is not a Verb: `profline help`, `profline version`.
struct WordCommand {
  std::string_view name, words, summary;
};
std::span<const WordCommand> word_commands();
/// The one with this name, or none.
std::span<const WordCommand> find_word_command(std::string_view name);

/// The width of help: 80 columns, or the terminal's width if that is less.
std::size_t help_width();

/// `profline --help`.
std::string help_text(const CommandLine& command_line, std::size_t width);
/// `profline VERB --help`; `common` are the options that every command takes.
std::string help_of(const Verb& verb, std::span<const Option> common, std::size_t width);
/// `profline help version`.
std::string help_of_word(const WordCommand& command, std::span<const Option> common,
                         std::size_t width);
/// `profline kernels --help`: the commands that share their first word.
std::string help_of_group(const CommandLine& command_line, std::string_view word,
                          std::size_t width);

/// `profline help --format json`: docs/formats/help.md.
Result<std::string> help_document(std::span<const Verb* const> verbs,
                                  std::span<const WordCommand> words);

/// `profline help man`.
inline constexpr std::string_view kManualWord = "man";

/// The manual page profline(1), generated from the help texts. Installed as
/// share/man/man1/profline.1.
std::string manual_page(const CommandLine& command_line);

/// `profline kernels profile [OPTIONS] -- PROGRAM...`
std::string usage_of(const Verb& verb);
/// `-cn, --config-name NAME`; the alias may be absent.
std::string option_text(const Option& option);
/// What an option does, and the values it takes.
std::string option_help(const Option& option);

}  // namespace profline
