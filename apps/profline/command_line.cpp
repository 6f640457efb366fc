#include "command_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>

#include "arguments.h"
#include "base/strings.h"
#include "command_help.h"
#include "profline_version.h"
#include "records/document.h"
#include "schema/field.h"
#include "session/configuration.h"

namespace profline {
namespace {

using Takes = Option::Takes;

std::vector<Option> common_options() {
  return {
      {"--help", "-h", Takes::Nothing, "", "show this help; after a command, that command's"},
      {"--version", "", Takes::Nothing, "", "show version and commit"},
      {"--format", "", Takes::Value, "FORMAT", "format of the result on stdout", {"text", "json"}},
      {"--color",
       "",
       Takes::Value,
       "WHEN",
       "colour messages; auto: on a terminal, unless NO_COLOR is set",
       {"auto", "always", "never"}},
      {"--verbose", "-v", Takes::Nothing, "",
       "report on stderr which configs were merged, and each stage of a sweep's jobs"},
      {"--quiet", "-q", Takes::Nothing, "", "no progress and no config warnings on stderr"},
      {"--shell-completion", "-sc", Takes::Nothing, "",
       "install=SHELL prints a script that completes commands and keys in bash, zsh or fish"},
  };
}

/// What `version` prints with --format json: docs/formats/README.md.
struct VersionDocument {
  static constexpr DocumentKind kKind{"version", 1};

  std::string version = kVersion;
  std::string commit = kCommit;
};
constexpr auto fields(std::type_identity<VersionDocument>) {
  return field_list(
      field("version", &VersionDocument::version, "of profline").required(),
      field("commit", &VersionDocument::commit, "profline was built from").required());
}

Result<std::string> version_text(OutputFormat format) {
  if (format == OutputFormat::Json) return to_document(VersionDocument());
  return fmt::format("profline {} ({})\n", kVersion, kCommit);
}

/// Commands that `--cfg`, `--info` and `--dry-run` replace with another.
bool is_run_like(std::string_view verb) {
  return verb == "run" || verb == "plan" || verb == "demo";
}

/// Commands that take overrides, but no program.
bool runs_built_in(std::string_view verb) {
  return verb == "demo" || verb == "infer";
}

/// A demo that is only shown is still a demo.
void keep_config_name(const Verb* verb, Arguments& arguments) {
  if (verb == nullptr || verb->name() != "demo" || arguments.has("--config-name")) return;
  arguments.add({"--config-name", "demo"});
}

Understood shown(std::string text) {
  return {.kind = Understood::Kind::Show, .shown = std::move(text)};
}

OutputOptions output_options(const Arguments& arguments) {
  OutputOptions options;
  if (arguments.value("--format") == "json") options.format = OutputFormat::Json;
  options.verbosity = arguments.count("--verbose") - arguments.count("--quiet");
  return options;
}

}  // namespace

namespace fs = std::filesystem;

std::vector<Option> config_choice_options() {
  using Takes = Option::Takes;
  return {
      {"--config-name", "-cn", Takes::Value, "NAME",
       "the primary config [config; with a program after --: program]"},
      {"--config-path", "-cp", Takes::Value, "DIR",
       "folder with the configs [./conf if it contains the primary config]"},
      {"--config-dir", "-cd", Takes::Value, "DIR", "search this folder for configs as well"},
  };
}

session::ConfigChoice config_choice(const Arguments& arguments) {
  session::ConfigChoice choice;
  choice.path = arguments.value("--config-path");
  choice.dir = arguments.value("--config-dir");
  // A server that is running already has no command; its preset belongs to the same config.
  const bool is_server =
      std::any_of(arguments.words.begin(), arguments.words.end(),
                  [](const std::string& word) { return word.starts_with("workload/server="); });
  if (arguments.program || is_server) choice.name = session::kProgramConfig;
  choice.name = arguments.value("--config-name").value_or(choice.name);
  choice.overrides = arguments.words;
  // Last, so that the user's overrides keep their numbers in messages.
  if (arguments.program) choice.overrides.push_back(session::program_override(*arguments.program));
  return choice;
}

Result<void> check_nothing_is_shown(const Arguments& arguments) {
  for (const char* option : {"--package", "--resolve"}) {
    if (!arguments.has(option)) continue;
    return Error(ErrorKind::Config,
                 std::string(option) + " is for showing the config: add --cfg job")
        .with_reason("usage");
  }
  return {};
}

std::vector<Option> run_options() {
  using Takes = Option::Takes;
  return {
      {"--workload", "", Takes::Value, "PROGRAM",
       "the profline-workload to run [next to profline, then on PATH]"},
      {"--nsys", "", Takes::Value, "PROGRAM", "the nsys to run [nsys on PATH]"},
      {"--ncu", "", Takes::Value, "PROGRAM", "the ncu to run [ncu on PATH]"},
  };
}

session::ProgramChoice program_choice(const Arguments& arguments) {
  const auto named = [&](const char* option) -> std::string {
    const std::string name = arguments.value(option).value_or("");
    if (name.find('/') == std::string::npos) return name;
    std::error_code failure;
    const fs::path path = fs::absolute(name, failure);
    return failure ? name : path.lexically_normal().string();
  };
  session::ProgramChoice programs;
  programs.workload = named("--workload");
  programs.nsys = named("--nsys");
  programs.ncu = named("--ncu");
  return programs;
}

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
  // As in Hydra, these replace running.
  const bool may_turn = is_bare || (verb != nullptr && is_run_like(verb->name()));
  if (may_turn && (arguments.has("--cfg") || arguments.has("--info"))) {
    keep_config_name(verb, arguments);
    return find_verb("config");
  }
  if (may_turn && arguments.has("--dry-run")) {
    keep_config_name(verb, arguments);
    return find_verb("plan");
  }
  // Overrides without a command mean run; so do options that only run has.
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
    return Error(ErrorKind::Config, fmt::format("'{0}' needs a subcommand; 'profline {0} --help' "
                                                "lists the commands",
                                                word))
        .with_reason("usage");
  }
  if (is_group) word += " " + arguments.words[1];
  return Error(ErrorKind::Config, "unknown command '" + word + "'" + did_you_mean(word, known) +
                                      "; 'profline --help' lists the commands")
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
    return Error(ErrorKind::Config, fmt::format("the command '{}' takes only options, not '{}'",
                                                verb.name(), arguments.words.front()))
        .with_reason("usage");
  }
  return {};
}

Result<void> CommandLine::check_program(const Arguments& given) const {
  Arguments rest = given;
  const Verb* verb = take_verb(rest);
  if (verb == nullptr && !rest.words.empty()) return {};  // an unknown command
  const bool is_words = verb != nullptr && !verb->takes_program() && !runs_built_in(verb->name());
  if (is_words) return {};
  auto misplaced = misplaced_program(rest, verb == nullptr ? "" : verb->name());
  return misplaced ? std::move(*misplaced) : Result<void>();
}

NearMissRules CommandLine::near_miss_rules() const {
  NearMissRules rules{every_option_, {}, is_known_program};
  for (const auto& verb : verbs_) {
    rules.verbs.push_back(verb->name().substr(0, verb->name().find(' ')));
  }
  for (const WordCommand& command : word_commands()) rules.verbs.push_back(command.name);
  return rules;
}

Result<std::vector<const Verb*>> CommandLine::verbs_called(Arguments& given) const {
  std::vector<const Verb*> called;
  if (given.words.empty()) {
    for (const auto& verb : verbs_) called.push_back(verb.get());
    return called;
  }
  if (given.words.size() == 1) called = group(given.words.front());
  if (called.empty()) called = {PL_TRY(chosen_verb(given))};
  return called;
}

Result<std::string> CommandLine::help_for(Arguments& given) const {
  const std::vector<std::string>& words = given.words;
  const bool is_manual = words.size() == 1 && words.front() == kManualWord;
  const bool is_json = output_options(given).format == OutputFormat::Json;
  const auto word_command =
      words.size() == 1 ? find_word_command(words.front()) : std::span<const WordCommand>();
  if (!word_command.empty()) {
    return is_json ? help_document({}, word_command)
                   : help_of_word(word_command.front(), common_, help_width());
  }
  if (is_json && !is_manual) {
    return help_document(PL_TRY(verbs_called(given)),
                         words.empty() ? word_commands() : std::span<const WordCommand>());
  }
  if (words.empty()) return help_text(*this, help_width());
  if (is_manual) return manual_page(*this);
  if (words.size() == 1 && !group(words.front()).empty()) {
    return help_of_group(*this, words.front(), help_width());
  }
  return help_of(*PL_TRY(chosen_verb(given)), common_, help_width());
}

Result<Understood> CommandLine::parse(const std::vector<std::string>& arguments) const {
  if (arguments.empty()) return shown(help_text(*this, help_width()));
  Understood request;
  if (auto near_miss = program_without_dashes(arguments, near_miss_rules())) {
    return std::move(*near_miss);
  }
  request.invocation.arguments = PL_TRY(split_arguments(arguments, every_option_));
  Arguments& given = request.invocation.arguments;
  request.invocation.output = output_options(given);
  request.invocation.argv = arguments;
  request.invocation.argv.insert(request.invocation.argv.begin(), "profline");
  const bool asks_by_word = !given.words.empty() && given.words.front() == "help";
  const bool asks_for_help = asks_by_word || given.has("--help");
  if (!asks_for_help &&
      (given.has("--version") || given.words == std::vector<std::string>{"version"})) {
    return shown(PL_TRY(version_text(request.invocation.output.format)));
  }
  if (given.has("--shell-completion")) {
    request.kind = Understood::Kind::ShellCompletion;
    return request;
  }
  if (asks_by_word) given.words.erase(given.words.begin());
  if (asks_for_help) return shown(PL_TRY(help_for(given)));
  PL_TRY(check_program(given));
  request.verb = PL_TRY(chosen_verb(given));
  if (given.program && !request.verb->takes_program()) {
    given.words.insert(given.words.end(), given.program->begin(), given.program->end());
    given.program.reset();
  }
  PL_TRY(check_options(*request.verb, given));
  return request;
}

bool wants_color(const std::optional<std::string>& choice, int file_descriptor) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && isatty(file_descriptor) == 1;
}

}  // namespace profline
