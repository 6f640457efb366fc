#include "shell_completion.h"

#include <charconv>
#include <cstdlib>

#include "completion.h"
#include "standard_streams.h"

namespace profline {
namespace {

/// bash replaces only the part of a word behind the last of COMP_WORDBREAKS (of `a=b` the `b`), and
/// hands that part to the function. It is passed on, so that COMP_WORDBREAKS may stay as it is.
constexpr std::string_view kInstall = R"script(_profline_complete() {
  mapfile -t COMPREPLY < <(COMP_LINE=$COMP_LINE COMP_POINT=$COMP_POINT PROFLINE_COMP_WORD=$2 \
    "$1" --shell-completion query=bash 2>/dev/null)
}
complete -o nospace -o default -F _profline_complete profline
)script";

constexpr std::string_view kUninstall = R"script(complete -r profline
unset -f _profline_complete
)script";

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<ExitCode> answer_query(const CommandLine& command_line) {
  const std::string text = from_environment("COMP_LINE");
  const std::string point = from_environment("COMP_POINT");
  std::size_t cursor = text.size();
  std::from_chars(point.data(), point.data() + point.size(), cursor);
  const UnfinishedLine line = unfinished_line(text, cursor);
  const std::string replaced = from_environment("PROFLINE_COMP_WORD");
  // Where bash sees the word otherwise (inside of quotes), all of it is offered.
  const std::size_t kept =
      line.word.ends_with(replaced) ? line.word.size() - replaced.size() : std::size_t{0};
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
  if (word == "query=bash") return answer_query(command_line);
  if (word == "install=bash" || word == "uninstall=bash") {
    PL_TRY(print_result(word == "install=bash" ? kInstall : kUninstall));
    return ExitCode::Done;
  }
  return Error(ErrorKind::Config,
               "--shell-completion goes with one of install=bash, uninstall=bash and query=bash")
      .with_reason("usage");
}

}  // namespace profline
