#include "process/command.h"

#include <algorithm>
#include <string_view>

namespace profline {
namespace {

/// Characters that mean nothing to any shell inside a word; see needs_quotes for its start.
bool is_plain(char c) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

bool needs_quotes(std::string_view word) {
  // zsh replaces =ls with the path of ls.
  return word.empty() || word.front() == '=' || !std::all_of(word.begin(), word.end(), is_plain);
}

std::string in_quotes(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + '\'';
}

std::string shell_word(std::string_view word) {
  return needs_quotes(word) ? in_quotes(word) : std::string(word);
}

/// As shell_word, for the first word of a command, where a=b would be an assignment.
std::string shell_program(std::string_view word) {
  return word.find('=') != std::string_view::npos ? in_quotes(word) : shell_word(word);
}

Result<void> check_variable(const std::string& name) {
  if (!name.empty() && name.find('=') == std::string::npos && name.find('\0') == std::string::npos)
    return {};
  return Error(ErrorKind::Config, "environment variable " + shell_word(name) +
                                      ": a name must not be empty or contain '=' or NUL");
}

Result<void> check_text(const std::string& text, const std::string& what) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string::npos) return {};
  return Error(ErrorKind::Config, what + " contains a NUL byte at offset " + std::to_string(nul) +
                                      ", which would cut it off");
}

}  // namespace

Result<void> check(const Command& command) {
  if (command.argv.empty() || command.argv.front().empty()) {
    return Error(ErrorKind::Config, "the command has no program to run");
  }
  for (std::size_t i = 0; i < command.argv.size(); ++i) {
    PL_TRY(check_text(command.argv[i], "argument " + std::to_string(i) + " of " +
                                           shell_word(command.argv.front().c_str())));
  }
  for (const auto& [name, value] : command.env) {
    PL_TRY(check_variable(name));
    PL_TRY(check_text(value, "environment variable " + name));
  }
  for (const std::string& name : command.unset_env) PL_TRY(check_variable(name));
  for (const std::filesystem::path* path : {&command.cwd, &command.log, &command.out}) {
    PL_TRY(check_text(path->native(), "path " + shell_word(path->c_str())));
  }
  return {};
}

std::string display(const Command& command) {
  std::string text;
  if (!command.cwd.empty()) {
    // `cd -` and `cd -P` mean something else, so the path gets a `./` in front.
    const bool like_an_option = command.cwd.native().front() == '-';
    text += "cd " + shell_word((like_an_option ? "./" : "") + command.cwd.native()) + " && ";
  }
  if (!command.env.empty() || !command.unset_env.empty()) {
    text += "env ";
    for (const std::string& name : command.unset_env) text += "-u " + shell_word(name) + ' ';
    for (const auto& [name, value] : command.env) {
      // Quotes only the value: PATH='a b' reads better than 'PATH=a b', and is the same word.
      text += shell_word(name) + '=' + shell_word(value) + ' ';
    }
  }
  for (std::size_t i = 0; i < command.argv.size(); ++i) {
    text += i == 0 ? shell_program(command.argv[i]) : ' ' + shell_word(command.argv[i]);
  }
  return text;
}

Command redacted(Command command, const Redactor& redactor) {
  command.argv = redactor.words(command.argv);
  command.env = redactor.variables(command.env);
  return command;
}

}  // namespace profline
