#include "completion.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/strings.h"
#include "command_help.h"
#include "command_line.h"
#include "session/config_keys.h"
#include "standard_streams.h"

namespace profline {
namespace {

using Takes = Option::Takes;

/// Adds the candidate as a finished word if it begins with the start.
void add_finished(std::vector<std::string>& out, std::string_view candidate,
                  std::string_view start) {
  if (candidate.starts_with(start)) out.push_back(std::string(candidate) + ' ');
}

/// The words that a command with these words may take first: `show` and `export` of `[show
/// RUN|export]`. Those in capitals stand for something else.
std::vector<std::string_view> keywords(std::string_view words) {
  if (words.starts_with('[') && words.ends_with(']')) words = words.substr(1, words.size() - 2);
  std::vector<std::string_view> found;
  for (const std::string_view choice : split(words, '|')) {
    const std::string_view first = choice.substr(0, choice.find(' '));
    const bool is_literal = !first.empty() && std::all_of(first.begin(), first.end(), [](char c) {
      return c >= 'a' && c <= 'z';
    });
    if (is_literal) found.push_back(first);
  }
  return found;
}

class Completion {
 public:
  Completion(const UnfinishedLine& line, const CommandLine& command_line)
      : line_(line), command_line_(command_line) {}

  std::vector<std::string> run() {
    if (const Option* option = option_awaiting_value()) return values_of(*option, line_.word, "");
    auto arguments = split_arguments(line_.before, command_line_.every_option());
    if (!arguments) return {};
    given_ = std::move(*arguments);
    if (given_.program) return {};  // the program's own words
    verb_ = command_line_.take_verb(given_);
    if (line_.word.starts_with('-')) return options();
    if (verb_ == nullptr) return verbs();
    if (given_.words.empty()) {
      std::vector<std::string> out;
      for (const std::string_view word : keywords(verb_->words()))
        add_finished(out, word, line_.word);
      if (!out.empty()) return out;
    }
    if (verb_->words().find("[OVERRIDES]") == std::string_view::npos) return {};
    const bool key_comes_first = verb_->words().starts_with("KEY");
    if (key_comes_first && given_.words.empty()) return of_config().keys(line_.word);
    session::ConfigChoice choice = config_choice(given_);
    if (key_comes_first) choice.overrides.erase(choice.overrides.begin());
    return session::OverrideCompletion(std::move(choice)).overrides(line_.word);
  }

 private:
  const Option* option_awaiting_value() const {
    if (line_.before.empty() || line_.word.starts_with('-')) return nullptr;
    const Option* option = find_option(line_.before.back(), command_line_.every_option());
    if (option == nullptr || option->takes == Takes::Nothing) return nullptr;
    const bool may_lack_value = option->takes == Takes::MaybeValue;
    return may_lack_value && looks_like_override(line_.word) ? nullptr : option;
  }

  std::vector<std::string> verbs() const {
    std::vector<std::string> out;
    if (given_.words.size() > 1) return out;
    const std::string before = given_.words.empty() ? "" : given_.words.front() + " ";
    for (const auto& verb : command_line_.verbs()) {
      if (!verb->name().starts_with(before)) continue;
      const std::string_view rest = verb->name().substr(before.size());
      add_finished(out, rest.substr(0, rest.find(' ')), line_.word);
    }
    if (given_.words.empty()) {
      for (const WordCommand& command : word_commands())
        add_finished(out, command.name, line_.word);
    }
    return out;
  }

  /// Options of the command; of all commands that its first word may become; of any command.
  std::vector<Option> known_options() const {
    if (verb_ != nullptr) return command_line_.options_of(*verb_);
    if (given_.words.empty()) return command_line_.every_option();
    std::vector<Option> known;
    for (const Verb* verb : command_line_.group(given_.words.front())) {
      for (Option& option : command_line_.options_of(*verb)) known.push_back(std::move(option));
    }
    return known;
  }

  std::vector<std::string> options() {
    const std::vector<Option> known = known_options();
    const std::size_t equals = line_.word.find('=');
    if (equals != std::string::npos) {
      const std::string name = line_.word.substr(0, equals);
      const Option* option = find_option(name, known);
      if (option == nullptr) return {};
      return values_of(*option, line_.word.substr(equals + 1), name + "=");
    }
    std::vector<std::string> out;
    for (const Option& option : known) add_finished(out, option.name, line_.word);
    return out;
  }

  /// `before` precedes the value in the same word.
  std::vector<std::string> values_of(const Option& option, const std::string& start,
                                     const std::string& before) {
    std::vector<std::string> out;
    std::string done = before;
    std::string rest = start;
    if (option.takes == Takes::Values) {
      const std::size_t comma = start.rfind(',') + 1;  // 0 without a comma
      done += start.substr(0, comma);
      rest = start.substr(comma);
    }
    for (const std::string& choice : option.choices) {
      if (choice.starts_with(rest)) out.push_back(done + choice + " ");
    }
    if (option.name == "--config-name" || option.name == "--package") {
      const session::OverrideCompletion config = of_config();
      const bool is_package = option.name == "--package";
      for (const std::string& one : is_package ? config.keys(rest) : config.config_names(rest)) {
        out.push_back(done + one);
      }
    }
    return out;
  }

  /// The configuration that the line refers to, without its overrides.
  session::OverrideCompletion of_config() const {
    session::ConfigChoice choice;
    const auto arguments = split_arguments(std::span(line_.before).first(finished_words()),
                                           command_line_.every_option());
    if (arguments) choice = config_choice(*arguments);
    choice.overrides.clear();
    return session::OverrideCompletion(std::move(choice));
  }

  /// The number of words ahead of an option that waits for its value.
  std::size_t finished_words() const {
    return line_.before.size() - (option_awaiting_value() == nullptr ? 0 : 1);
  }

  const UnfinishedLine& line_;
  const CommandLine& command_line_;
  Arguments given_;
  const Verb* verb_ = nullptr;
};

/// Parses one line as a shell does.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : line_(line) {}

  UnfinishedLine run() {
    UnfinishedLine out;
    while (at_ < line_.size()) {
      if (line_[at_] == ' ' || line_[at_] == '\t') {
        if (in_word_) out.before.push_back(std::move(word_));
        word_.clear();
        in_word_ = false;
        ++at_;
      } else {
        in_word_ = true;
        take_piece();
      }
    }
    out.word = std::move(word_);
    if (!out.before.empty()) out.before.erase(out.before.begin());  // the program
    return out;
  }

 private:
  /// A quoted part, an escaped character, or one character.
  void take_piece() {
    const char first = line_[at_++];
    if (first == '\'' || first == '"') {
      while (at_ < line_.size() && line_[at_] != first) word_ += line_[at_++];
      ++at_;
    } else if (first == '\\' && at_ < line_.size()) {
      word_ += line_[at_++];
    } else {
      word_ += first;
    }
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
};

}  // namespace

UnfinishedLine unfinished_line(std::string_view line, std::size_t cursor) {
  return LineReader(line.substr(0, cursor)).run();
}

std::vector<std::string> complete(const UnfinishedLine& line, const CommandLine& command_line) {
  std::vector<std::string> out = Completion(line, command_line).run();
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

namespace {

struct Shell {
  std::string_view name;
  std::string_view install;
  std::string_view uninstall;
};

// bash replaces only the part of a word after the last of COMP_WORDBREAKS (in `a=b` the `b`), and
// passes that part to the function. We forward it, so that COMP_WORDBREAKS can stay unchanged. zsh
// and fish replace whole words; if profline offers nothing, they complete file names.
constexpr Shell kShells[] = {
    {"bash",
     R"script(_profline_complete() {
  mapfile -t COMPREPLY < <(COMP_LINE=$COMP_LINE COMP_POINT=$COMP_POINT PROFLINE_COMP_WORD=$2 \
    "$1" --shell-completion query=bash 2>/dev/null)
}
complete -o nospace -o default -F _profline_complete profline
)script",
     R"script(complete -r profline
unset -f _profline_complete
)script"},
    {"zsh",
     R"script(#compdef profline
_profline() {
  local candidate
  local -a finished unfinished
  while IFS= read -r candidate; do
    if [[ $candidate == *' ' ]]; then
      finished+=("${candidate% }")
    else
      unfinished+=("$candidate")
    fi
  done < <(COMP_LINE="${(j: :)words[1,CURRENT-1]} $PREFIX" \
    "${(Q)words[1]}" --shell-completion query=zsh 2>/dev/null)
  (( ${#finished} )) && compadd -Q -- "${finished[@]}"
  (( ${#unfinished} )) && compadd -Q -S '' -- "${unfinished[@]}"
  (( ${#finished} + ${#unfinished} )) || _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _profline profline
)script",
     R"script(compdef -d profline
unfunction _profline
)script"},
    {"fish",
     R"script(function __profline_complete
    set -l words (commandline -opc)
    set -lx COMP_LINE (commandline -cp | string collect)
    set -l candidates ($words[1] --shell-completion query=fish 2>/dev/null)
    if test (count $candidates) -gt 0
        string trim --right -- $candidates
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c profline -f -a '(__profline_complete)'
)script",
     R"script(complete -c profline -e
functions -e __profline_complete
)script"},
};

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<ExitCode> answer_query(const CommandLine& command_line, bool whole_words) {
  const std::string text = from_environment("COMP_LINE");
  const std::string point = from_environment("COMP_POINT");
  std::size_t cursor = text.size();
  std::from_chars(point.data(), point.data() + point.size(), cursor);
  const UnfinishedLine line = unfinished_line(text, cursor);
  const std::string replaced = from_environment("PROFLINE_COMP_WORD");
  // If bash splits the word differently (inside quotes), the whole word is offered.
  const bool offers_rest = !whole_words && line.word.ends_with(replaced);
  const std::size_t kept = offers_rest ? line.word.size() - replaced.size() : std::size_t{0};
  std::string candidates;
  for (const std::string& candidate : complete(line, command_line)) {
    candidates += candidate.substr(kept) + "\n";
  }
  PL_TRY(print_result(candidates));
  return ExitCode::Done;
}

}  // namespace

Result<ExitCode> run_shell_completion(const Arguments& arguments, const CommandLine& command_line) {
  const std::string word = arguments.words.size() == 1 ? arguments.words.front() : "";
  for (const Shell& shell : kShells) {
    const std::string name(shell.name);
    if (word == "query=" + name) return answer_query(command_line, shell.name != "bash");
    if (word != "install=" + name && word != "uninstall=" + name) continue;
    PL_TRY(print_result(word.starts_with("install") ? shell.install : shell.uninstall));
    return ExitCode::Done;
  }
  return Error(
             ErrorKind::Config,
             "--shell-completion takes install=SHELL, uninstall=SHELL or query=SHELL, where SHELL "
             "is bash, zsh or fish")
      .with_reason("usage");
}

}  // namespace profline
