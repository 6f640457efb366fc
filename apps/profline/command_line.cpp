#include "command_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "base/strings.h"
#include "profline_version.h"

namespace profline {
namespace {

using Takes = Option::Takes;

constexpr std::string_view kSummary =
    "profline runs an LLM inference workload under every profiler and says where its time goes.\n"
    "One Hydra-style config, one command, one report.\n";

std::vector<Option> common_options() {
  return {
      {"--help", "-h", Takes::Nothing, "", "show this help; after a command, that command's"},
      {"--version", "", Takes::Nothing, "", "show version and commit"},
      {"--format", "", Takes::Value, "FORMAT", "form of the result on stdout", {"text", "json"}},
      {"--color",
       "",
       Takes::Value,
       "WHEN",
       "colours of messages; auto: on a terminal, unless NO_COLOR is set",
       {"auto", "always", "never"}},
      {"--verbose", "-v", Takes::Nothing, "", "tell on stderr which configs were merged"},
      {"--quiet", "-q", Takes::Nothing, "", "no progress on stderr, no warnings about the config"},
      {"--shell-completion", "-sc", Takes::Nothing, "",
       "eval \"$(profline -sc install=bash)\" completes in bash; uninstall=bash ends that"},
  };
}

std::string version_text() {
  return fmt::format("profline {} ({})\n", kVersion, kCommit);
}

/// Commands that `--cfg`, `--info` and `--dry-run` turn into something else.
bool is_run_like(std::string_view verb) {
  return verb == "run" || verb == "plan" || verb == "demo";
}

/// A demo that is only shown is still a demo.
void keep_config_name(const Verb* verb, Arguments& arguments) {
  if (verb == nullptr || verb->name() != "demo" || arguments.has("--config-name")) return;
  arguments.add({"--config-name", "demo"});
}

/// A row of help; what is too long for its column gets a line of its own.
std::string help_row(const std::string& left, std::string_view right) {
  constexpr std::size_t kColumn = 29;
  return left.size() < kColumn ? fmt::format("  {:<29}{}\n", left, right)
                               : fmt::format("  {}\n  {:<29}{}\n", left, "", right);
}

std::string option_rows(const std::vector<Option>& options) {
  std::string rows;
  for (const Option& option : options) {
    std::string left = option.alias.empty() ? "    " : std::string(option.alias) + ", ";
    left = fmt::format("{:>5}{}", left, option.name);
    if (option.takes == Takes::MaybeValue) left += fmt::format(" [{}]", option.value_name);
    if (option.takes == Takes::Value || option.takes == Takes::Values) {
      left += fmt::format(" {}", option.value_name);
    }
    std::string right(option.help);
    if (!option.choices.empty()) right += " (" + join(option.choices, ", ") + ")";
    rows += help_row(left, right);
  }
  return rows;
}

OutputOptions output_options(const Arguments& arguments) {
  OutputOptions options;
  if (arguments.value("--format") == "json") options.format = OutputFormat::Json;
  options.verbosity = arguments.count("--verbose") - arguments.count("--quiet");
  return options;
}

}  // namespace

CommandLine::CommandLine(const std::vector<std::unique_ptr<Verb>>& verbs)
    : verbs_(verbs), common_(common_options()), every_option_(common_) {
  for (const auto& verb : verbs_) {
    for (Option& option : verb->options()) {
      if (find_option(option.name, every_option_) == nullptr) {
        every_option_.push_back(std::move(option));
      }
    }
  }
}

std::vector<Option> CommandLine::options_of(const Verb& verb) const {
  std::vector<Option> options = verb.options();
  options.insert(options.end(), common_.begin(), common_.end());
  return options;
}

const Verb* CommandLine::find_verb(std::string_view name) const {
  const auto found = std::find_if(verbs_.begin(), verbs_.end(),
                                  [&](const auto& verb) { return verb->name() == name; });
  return found == verbs_.end() ? nullptr : found->get();
}

std::vector<const Verb*> CommandLine::group(std::string_view word) const {
  std::vector<const Verb*> found;
  for (const auto& verb : verbs_) {
    if (verb->name().starts_with(std::string(word) + " ")) found.push_back(verb.get());
  }
  return found;
}

const Verb* CommandLine::take_named_verb(std::vector<std::string>& words) const {
  for (const std::size_t count : {2U, 1U}) {
    if (words.size() < count) continue;
    const auto end = words.begin() + static_cast<std::ptrdiff_t>(count);
    const Verb* verb = find_verb(join({words.begin(), end}, " "));
    if (verb == nullptr) continue;
    words.erase(words.begin(), end);
    return verb;
  }
  return nullptr;
}

const Verb* CommandLine::take_verb(Arguments& arguments) const {
  std::vector<std::string>& words = arguments.words;
  const Verb* verb = take_named_verb(words);
  const bool is_bare = verb == nullptr && (words.empty() || looks_like_override(words.front()));
  // As in Hydra, these stand for doing something else than running.
  const bool may_turn = is_bare || (verb != nullptr && is_run_like(verb->name()));
  if (may_turn && (arguments.has("--cfg") || arguments.has("--info"))) {
    keep_config_name(verb, arguments);
    return find_verb("config");
  }
  if (may_turn && arguments.has("--dry-run")) {
    keep_config_name(verb, arguments);
    return find_verb("plan");
  }
  // Overrides alone are a run's; so is what only a run takes.
  const bool is_run = is_bare && (!words.empty() || arguments.has("--resume") ||
                                  arguments.has("--multirun") || arguments.has("--config-name"));
  return is_run ? find_verb("run") : verb;
}

Result<const Verb*> CommandLine::chosen_verb(Arguments& arguments) const {
  if (const Verb* verb = take_verb(arguments)) return verb;
  if (arguments.words.empty()) {
    return Error(ErrorKind::Config, "no command given; 'profline --help' lists them")
        .with_reason("usage");
  }
  std::string word = arguments.words.front();
  std::vector<std::string> known;
  for (const auto& verb : verbs_) {
    known.emplace_back(verb->name());
    known.emplace_back(verb->name().substr(0, verb->name().find(' ')));
  }
  const bool is_group = !group(word).empty();
  if (is_group && arguments.words.size() == 1) {
    return Error(ErrorKind::Config, fmt::format("'{0}' needs to know what to do; 'profline {0} "
                                                "--help' lists what there is",
                                                word))
        .with_reason("usage");
  }
  if (is_group) word += " " + arguments.words[1];
  return Error(ErrorKind::Config, "unknown command '" + word + "'" + did_you_mean(word, known) +
                                      "; 'profline --help' lists what there is")
      .with_reason("unknown_command");
}

Result<void> CommandLine::check_options(const Verb& verb, const Arguments& arguments) const {
  const std::vector<Option> options = options_of(verb);
  for (const Arguments::Given& given : arguments.options()) {
    if (find_option(given.name, options) != nullptr) continue;
    return Error(ErrorKind::Config, fmt::format("the command '{0}' takes no option '{1}'; "
                                                "'profline {0} --help' lists its options",
                                                verb.name(), given.name))
        .with_reason("unknown_option");
  }
  if (verb.words().empty() && !arguments.words.empty()) {
    return Error(ErrorKind::Config, fmt::format("the command '{}' takes options only, and no '{}'",
                                                verb.name(), arguments.words.front()))
        .with_reason("usage");
  }
  return {};
}

Result<Request> CommandLine::parse(const std::vector<std::string>& arguments) const {
  if (arguments.empty()) return Request{.kind = Request::Kind::Show, .shown = help()};
  Request request;
  request.invocation.arguments = PL_TRY(split_arguments(arguments, every_option_));
  Arguments& given = request.invocation.arguments;
  request.invocation.output = output_options(given);
  request.invocation.argv = arguments;
  request.invocation.argv.insert(request.invocation.argv.begin(), "profline");
  if (given.has("--version")) {
    return Request{.kind = Request::Kind::Show, .shown = version_text()};
  }
  if (given.has("--shell-completion")) {
    request.kind = Request::Kind::ShellCompletion;
    return request;
  }
  if (given.has("--help") && given.words.empty()) {
    return Request{.kind = Request::Kind::Show, .shown = help()};
  }
  if (given.has("--help") && given.words.size() == 1 && !group(given.words.front()).empty()) {
    return Request{.kind = Request::Kind::Show, .shown = help_of_group(given.words.front())};
  }
  request.verb = PL_TRY(chosen_verb(given));
  if (given.has("--help")) {
    return Request{.kind = Request::Kind::Show, .shown = help_of(*request.verb)};
  }
  PL_TRY(check_options(*request.verb, given));
  return request;
}

std::string CommandLine::help() const {
  std::string text =
      fmt::format("{}\nusage: profline COMMAND [WORDS] [OPTIONS]\n\ncommands\n", kSummary);
  for (const auto& verb : verbs_) {
    text += help_row(fmt::format("{} {}", verb->name(), verb->words()), verb->summary());
  }
  text += "\noptions\n" + option_rows(common_);
  text +=
      "\nOptions may stand before and after the command. OVERRIDES are Hydra's: a.b=1 +new.key=x\n"
      "~gone group=option; 'profline COMMAND --help' shows the options of a command.\n";
  return text;
}

std::string CommandLine::help_of(const Verb& verb) const {
  std::string usage(verb.name());
  const bool ends_options = verb.words().starts_with("-- ");  // behind it, all is the program's
  if (ends_options) usage += " [OPTIONS]";
  if (!verb.words().empty()) usage += " " + std::string(verb.words());
  if (!ends_options) usage += " [OPTIONS]";
  const std::string own = option_rows(verb.options());
  return fmt::format("{}\n\nusage: profline {}\n{}\nof every command\n{}", verb.summary(), usage,
                     own.empty() ? "" : "\noptions\n" + own, option_rows(common_));
}

std::string CommandLine::help_of_group(std::string_view word) const {
  std::string text = fmt::format("usage: profline {} WHAT [WORDS] [OPTIONS]\n\ncommands\n", word);
  for (const Verb* verb : group(word)) {
    text += help_row(fmt::format("{} {}", verb->name(), verb->words()), verb->summary());
  }
  return text + fmt::format("\n'profline {} WHAT --help' shows the options of each.\n", word);
}

bool wants_color(const std::optional<std::string>& choice, int file_descriptor) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && isatty(file_descriptor) == 1;
}

}  // namespace profline
