#include "shell_completion.h"

#include <charconv>
#include <cstdlib>

#include "completion.h"
#include "standard_streams.h"

namespace profline {
namespace {

struct Shell {
  std::string_view name;
  std::string_view install;
  std::string_view uninstall;
};

// bash replaces only the part of a word after the last of COMP_WORDBREAKS (of `a=b` the `b`), and
// hands that part to the function. It is passed on, so that COMP_WORDBREAKS may stay as it is.
// zsh and fish replace whole words; where profline offers nothing, they complete file names.
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
  // Where bash sees the word otherwise (inside of quotes), all of it is offered.
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
