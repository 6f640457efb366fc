#include "arguments.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

#include <fmt/core.h>

#include "base/strings.h"
#include "process/runner.h"
#include "verb.h"

namespace profline {
namespace {

Error usage_error(std::string message) {
  return Error(ErrorKind::Config, std::move(message) + "; see 'profline --help'")
      .with_reason("usage");
}

std::string_view without_dashes(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

Error unknown_option(std::string_view name, std::span<const Option> known) {
  // All options have dashes, which would make unrelated ones look similar.
  std::vector<std::string> names;
  for (const Option& option : known) names.emplace_back(without_dashes(option.name));
  const std::vector<std::string> meant = nearest(without_dashes(name), names);
  const std::string hint = meant.empty() ? "" : " (did you mean '--" + meant.front() + "'?)";
  return Error(ErrorKind::Config, "unknown option '" + std::string(name) + "'" + hint +
                                      "; 'profline --help' lists the options")
      .with_reason("unknown_option");
}

bool is_option(std::string_view argument) {
  return argument.size() > 1 && argument.front() == '-';
}

Result<void> check_value(const Option& option, const std::string& value) {
  if (option.choices.empty()) return {};
  std::vector<std::string> parts = {value};
  if (option.takes == Option::Takes::Values) {
    parts.clear();
    for (const std::string_view part : split(value, ',')) parts.emplace_back(part);
  }
  for (const std::string& part : parts) {
    if (std::count(option.choices.begin(), option.choices.end(), part) > 0) continue;
    return usage_error(std::string(option.name) + ": " + part + " not in {" +
                       join(option.choices, ",") + "}");
  }
  return {};
}

/// Parses the arguments, one option with its value at a time.
class Splitter {
 public:
  Splitter(std::span<const std::string> arguments, std::span<const Option> known)
      : arguments_(arguments), known_(known) {}

  Result<Arguments> run() {
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      if (argument == "--") {
        const auto rest = arguments_.subspan(next_);
        out_.program.emplace(rest.begin(), rest.end());
        break;
      }
      if (!is_option(argument)) {
        out_.words.push_back(argument);
      } else {
        PL_TRY(take_option(argument));
      }
    }
    return std::move(out_);
  }

 private:
  Result<void> take_option(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const Option* option = find_option(name, known_);
    if (option == nullptr) return unknown_option(name, known_);
    Arguments::Given given{std::string(option->name), std::nullopt};
    if (equals != std::string::npos) {
      if (option->takes == Option::Takes::Nothing) return usage_error(name + " takes no value");
      given.value = argument.substr(equals + 1);
    } else {
      given.value = PL_TRY(following_value(*option));
    }
    if (given.value) PL_TRY(check_value(*option, *given.value));
    out_.add(std::move(given));
    return {};
  }

  Result<std::optional<std::string>> following_value(const Option& option) {
    if (option.takes == Option::Takes::Nothing) return std::optional<std::string>();
    const bool there = next_ < arguments_.size();
    if (option.takes == Option::Takes::MaybeValue) {
      const bool taken =
          there && !is_option(arguments_[next_]) && !looks_like_override(arguments_[next_]);
      return taken ? std::optional(arguments_[next_++]) : std::nullopt;
    }
    if (!there || arguments_[next_] == "--") {
      return usage_error(std::string(option.name) + " needs a value, " +
                         std::string(option.value_name));
    }
    std::string value = arguments_[next_++];
    // A list whose help says `SECTION...` extends to the next option, with blanks instead of
    // commas.
    const bool goes_on =
        option.takes == Option::Takes::Values && option.value_name.ends_with("...");
    while (goes_on && next_ < arguments_.size() && !is_option(arguments_[next_])) {
      value += ',' + arguments_[next_++];
    }
    return std::optional(std::move(value));
  }

  std::span<const std::string> arguments_;
  std::span<const Option> known_;
  std::size_t next_ = 0;
  Arguments out_;
};

std::optional<std::uint64_t> number_in(std::string_view text, WholeNumbers takes) {
  const auto number = profline::whole_number<std::uint64_t>(text);
  const bool is_taken = number && *number >= takes.least && *number <= takes.most;
  return is_taken ? number : std::nullopt;
}

Error not_in_range(std::string_view text, std::string_view what, WholeNumbers takes,
                   std::string_view also) {
  return Error(ErrorKind::Config, fmt::format("{} must be an integer from {} to {}{}, not '{}'",
                                              what, takes.least, takes.most, also, text))
      .with_reason("usage");
}

using Words = std::vector<std::string>;

constexpr const char* kExample = "profline run -- python3 infer.py";

/// A line for a shell.
std::string pasted(const Words& words) {
  Command command;
  command.argv = words;
  return display(command);
}

bool is_script(std::string_view word) {
  return word.ends_with(".py") || word.ends_with(".sh");
}

bool is_executable(const std::string& word) {
  return word.find('/') != std::string::npos && ::access(word.c_str(), X_OK) == 0;
}

/// The program's words as a shell needs them: a script that cannot be executed gets its
/// interpreter.
Words runnable(std::span<const std::string> words) {
  Words out(words.begin(), words.end());
  if (out.empty() || is_executable(out.front())) return out;
  if (out.front().ends_with(".py")) out.insert(out.begin(), "python3");
  if (out.front().ends_with(".sh")) out.insert(out.begin(), "sh");
  return out;
}

/// `profline run OVERRIDES -- PROGRAM`
std::string right_line(std::string_view verb, const Words& before, const Words& program) {
  Words line = {"profline", std::string(verb)};
  line.insert(line.end(), before.begin(), before.end());
  line.emplace_back("--");
  line.insert(line.end(), program.begin(), program.end());
  return pasted(line);
}

bool takes_programs(std::string_view verb) {
  return verb == "run" || verb == "plan";
}

/// Finds a program in the place of a command or of an override.
class NearMiss {
 public:
  NearMiss(const Words& arguments, const NearMissRules& rules)
      : arguments_(arguments), rules_(rules) {}

  std::optional<Error> run() {
    for (at_ = 0; at_ < arguments_.size(); ++at_) {
      const std::string& word = arguments_[at_];
      if (word == "--") return after_dashes();
      if (word.starts_with('-')) {
        if (!take_option()) return std::nullopt;
      } else if (looks_like_override(word)) {
        before_.push_back(word);
      } else if (verb_.empty() && is_verb(word)) {
        if (!takes_programs(word)) return std::nullopt;
        verb_ = word;
      } else if (is_program(word)) {
        return found();
      } else if (verb_.empty() && no_verb_.empty() && is_unlike_verbs(word)) {
        no_verb_ = word;
      } else {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  bool is_verb(const std::string& word) const {
    return std::count(rules_.verbs.begin(), rules_.verbs.end(), word) > 0;
  }

  /// `profile`, but not `trce`, which is a typing error.
  bool is_unlike_verbs(const std::string& word) const {
    return nearest(word, Words(rules_.verbs.begin(), rules_.verbs.end())).empty();
  }

  bool is_program(const std::string& word) const {
    if (is_script(word)) return true;
    const bool is_path = word.find('/') != std::string::npos;
    if (no_verb_.empty()) return is_path || rules_.is_program(word);
    // The word ahead may be a command that we do not have, and this a file that it would read.
    std::error_code failure;
    if (std::filesystem::is_regular_file(word, failure)) return is_executable(word);
    return !is_path && rules_.is_program(word);
  }

  bool take_option() {
    const std::string& word = arguments_[at_];
    const std::size_t equals = word.find('=');
    const Option* option = find_option(word.substr(0, equals), rules_.options);
    if (option == nullptr) return false;
    before_.push_back(word);
    if (option->takes != Option::Takes::Value || equals != std::string::npos) return true;
    if (at_ + 1 == arguments_.size()) return true;
    before_.push_back(arguments_[++at_]);
    return before_.back() != "--";  // the value is missing
  }

  std::optional<Error> after_dashes() {
    ++at_;
    if (no_verb_.empty() || at_ == arguments_.size()) return std::nullopt;
    return found();
  }

  /// The program begins at the current word.
  Error found() const {
    Words program(arguments_.begin() + static_cast<std::ptrdiff_t>(at_), arguments_.end());
    // `profline run python3 -- x.py`
    if (program.size() > 1 && program[1] == "--") program.erase(program.begin() + 1);
    std::string what = "'" + (no_verb_.empty() ? arguments_[at_] : no_verb_) + "' ";
    what += verb_.empty() ? "is not a command" : "is not an override (KEY=VALUE)";
    return usage(what + "; to profile a program: " +
                 right_line(verb_.empty() ? "run" : verb_, before_, runnable(program)));
  }

  const Words& arguments_;
  const NearMissRules& rules_;
  std::size_t at_ = 0;
  std::string verb_;
  std::string no_verb_;  // the first word, if it is neither a command nor a program
  Words before_;         // options and overrides
};

}  // namespace

bool looks_like_override(std::string_view word) {
  return word.starts_with('+') || word.starts_with('~') || word.find('=') != std::string_view::npos;
}

const Option* find_option(std::string_view name, std::span<const Option> known) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Option& option) {
    return option.name == name || (!option.alias.empty() && option.alias == name);
  });
  return found == known.end() ? nullptr : &*found;
}

bool Arguments::has(std::string_view option) const {
  return count(option) > 0;
}

int Arguments::count(std::string_view option) const {
  return static_cast<int>(std::count_if(options_.begin(), options_.end(),
                                        [&](const Given& given) { return given.name == option; }));
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  std::optional<std::string> last;
  for (const Given& given : options_) {
    if (given.name == option) last = given.value;
  }
  return last;
}

std::vector<std::string> Arguments::each_value(std::string_view option) const {
  std::vector<std::string> out;
  for (const Given& given : options_) {
    if (given.name == option && given.value) out.push_back(*given.value);
  }
  return out;
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  std::vector<std::string> out;
  const std::optional<std::string> text = value(option);
  if (!text) return out;
  for (const std::string_view part : split(*text, ',')) out.emplace_back(part);
  return out;
}

Result<Arguments> split_arguments(std::span<const std::string> arguments,
                                  std::span<const Option> known) {
  return Splitter(arguments, known).run();
}

Result<std::uint64_t> parse_whole_number(std::string_view text, std::string_view what,
                                         WholeNumbers takes) {
  if (const auto number = number_in(text, takes)) return *number;
  return not_in_range(text, what, takes, "");
}

Result<std::optional<std::uint64_t>> whole_number(const Arguments& arguments,
                                                  std::string_view option, WholeNumbers takes) {
  const auto text = arguments.value(option);
  if (!text) return std::optional<std::uint64_t>();
  return std::optional(PL_TRY(parse_whole_number(*text, option, takes)));
}

Result<WholeNumberRange> parse_whole_number_range(std::string_view text, std::string_view option,
                                                  WholeNumbers takes) {
  const std::size_t sign = text.find_first_of(":-");
  if (sign != std::string_view::npos) {
    const auto first = number_in(text.substr(0, sign), takes);
    const auto last = number_in(text.substr(sign + 1), takes);
    if (first && last && *first <= *last) return WholeNumberRange{*first, *last};
  }
  return Error(ErrorKind::Config,
               fmt::format("{} must be FIRST:LAST, integers from {} to {} as in 10:40, not '{}'",
                           option, takes.least, takes.most, text))
      .with_reason("usage");
}

Result<std::optional<std::size_t>> rows_asked_for(const Arguments& arguments) {
  const auto text = arguments.value("--top");
  if (!text) return std::optional<std::size_t>();
  if (*text == "all") return std::optional(std::numeric_limits<std::size_t>::max());
  if (const auto number = number_in(*text, {})) return std::optional<std::size_t>(*number);
  return not_in_range(*text, "--top", {}, " or 'all'");
}

Result<double> parse_share(std::string_view text, std::string_view option) {
  std::string_view digits = trim(text);
  const bool is_percent = digits.ends_with('%');
  if (is_percent) digits = trim(digits.substr(0, digits.size() - 1));
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, failure] = std::from_chars(digits.data(), end, value);
  const double share = is_percent ? value / 100 : value;
  const bool fits = failure == std::errc() && rest == end && share >= 0 && share < 1;
  if (fits) return share;
  return Error(ErrorKind::Config, std::string(option) +
                                      " takes a share below 100 %, as in 3% or "
                                      "0.03, not '" +
                                      std::string(text) + "'");
}

std::optional<Error> program_without_dashes(const Words& arguments, const NearMissRules& rules) {
  return NearMiss(arguments, rules).run();
}

std::optional<Error> misplaced_program(const Arguments& given, std::string_view verb) {
  if (!given.program) return std::nullopt;
  const Words& program = *given.program;
  if (program.empty()) {
    return usage(std::string("no program follows '--'; name it, as in: ") + kExample);
  }
  const bool is_other = verb.empty() || verb == "demo" || verb == "infer";
  if (is_other) {
    const std::string what =
        verb.empty() ? "no command comes before '--'"
                     : "'profline " + std::string(verb) + "' runs the built-in model only";
    return usage(what + "; to profile a program: " + right_line("run", given.words, program));
  }
  for (const std::string& word : given.words) {
    for (const char* key : {"pipeline.workload.command", "pipeline.workload.module"}) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) continue;  // the key that `explain` is asked about
      const std::string name = word.substr(0, equals);
      if (name.substr(std::min(name.find_first_not_of('+'), name.size())) != key) continue;
      return usage("the program is named twice: by " + std::string(key) +
                   " and after '--'; leave one out");
    }
  }
  return std::nullopt;
}

bool is_known_program(const std::string& word) {
  std::error_code failure;
  return std::filesystem::is_regular_file(word, failure) || find_program(word).has_value();
}

}  // namespace profline
