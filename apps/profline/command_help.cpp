#include "command_help.h"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "profline_version.h"
#include "records/document.h"
#include "schema/field.h"
#include "text_table.h"

namespace profline {
namespace {

using Takes = Option::Takes;

constexpr std::string_view kSummary =
    "profline runs an LLM inference workload under every profiler and shows where its time goes. "
    "One Hydra-style config, one command, one report.";

constexpr std::string_view kClosing =
    "Options may come before or after the command. OVERRIDES use Hydra's syntax: a.b=1 "
    "+new.key=x ~gone group=option. 'profline COMMAND --help' lists a command's options and "
    "shows examples.";

constexpr WordCommand kWordCommands[] = {
    {"help", "[COMMAND]", "show this help or a command's; 'help man' prints the manual page"},
    {"version", "", "show version and commit"},
};

/// A row of help; an entry that is too long for its column gets its own line.
std::string help_row(const std::string& left, std::string_view right, std::size_t width) {
  constexpr std::size_t kColumn = 31;
  const std::string wrapped = wrap_words(right, width, kColumn) + '\n';
  const std::string start = "  " + left;
  return display_width(start) < kColumn ? pad_width(start, kColumn) + wrapped
                                        : start + '\n' + std::string(kColumn, ' ') + wrapped;
}

std::string option_rows(std::span<const Option> options, std::size_t width) {
  std::string rows;
  for (const Option& option : options) {
    // Names are aligned, with the aliases in front.
    const std::string indent(option.alias.empty() ? 5 : 3 - option.alias.size(), ' ');
    rows += help_row(indent + option_text(option), option_help(option), width);
  }
  return rows;
}

/// A command line that can be pasted: a broken line ends in a backslash.
std::string example_command(std::string_view command, std::size_t width) {
  const std::string wrapped = wrap_words(command, width - 2, 6);
  std::string text;
  for (const std::string_view line : lines(wrapped)) {
    if (!text.empty()) text += " \\\n";
    text += line;
  }
  return text;
}

std::string example_rows(const Verb& verb, std::size_t width) {
  std::string rows;
  for (const Example& example : verb.examples()) {
    rows += fmt::format("  {}\n      {}\n", example_command(example.command, width),
                        wrap_words(example.purpose, width, 6));
  }
  return rows;
}

}  // namespace

std::span<const WordCommand> word_commands() {
  return kWordCommands;
}

std::span<const WordCommand> find_word_command(std::string_view name) {
  const auto found = std::find_if(std::begin(kWordCommands), std::end(kWordCommands),
                                  [&](const WordCommand& command) { return command.name == name; });
  return {found, found == std::end(kWordCommands) ? 0U : 1U};
}

std::size_t help_width() {
  return std::min<std::size_t>(output_width(), 80);
}

std::string option_text(const Option& option) {
  std::string text = option.alias.empty() ? "" : std::string(option.alias) + ", ";
  text += option.name;
  if (option.takes == Takes::MaybeValue) text += fmt::format(" [{}]", option.value_name);
  if (option.takes == Takes::Value || option.takes == Takes::Values) {
    text += fmt::format(" {}", option.value_name);
  }
  return text;
}

std::string option_help(const Option& option) {
  std::string text(option.help);
  if (!option.choices.empty()) text += " (" + join(option.choices, ", ") + ")";
  return text;
}

std::string usage_of(const Verb& verb) {
  std::string words(verb.words());
  if (!words.empty()) words += ' ';
  // Everything after the two dashes belongs to the program.
  const std::size_t dashes = std::min({words.find("-- "), words.find("[-- "), words.size()});
  words.insert(dashes, "[OPTIONS] ");
  return "profline " + std::string(verb.name()) + " " + std::string(trim(words));
}

std::string help_text(const CommandLine& command_line, std::size_t width) {
  std::string text =
      wrap_words(kSummary, width) + "\n\nusage: profline COMMAND [WORDS] [OPTIONS]\n\ncommands\n";
  const auto row = [&](std::string_view name, std::string_view words, std::string_view summary) {
    text += help_row(words.empty() ? std::string(name) : fmt::format("{} {}", name, words), summary,
                     width);
  };
  for (const auto& verb : command_line.verbs()) row(verb->name(), verb->words(), verb->summary());
  for (const WordCommand& command : word_commands()) {
    row(command.name, command.words, command.summary);
  }
  text += "\noptions\n" + option_rows(command_line.shared_options(), width);
  return text + '\n' + wrap_words(kClosing, width) + '\n';
}

std::string help_of(const Verb& verb, std::span<const Option> common, std::size_t width) {
  const std::vector<Option> options = verb.options();
  std::string text = wrap_words(verb.summary(), width) + "\n\nusage: " + usage_of(verb) + "\n";
  if (!options.empty()) text += "\noptions\n" + option_rows(options, width);
  text += "\nexamples\n" + example_rows(verb, width);
  return text + "\ncommon options\n" + option_rows(common, width);
}

std::string help_of_word(const WordCommand& command, std::span<const Option> common,
                         std::size_t width) {
  const std::string words = command.words.empty() ? "" : fmt::format("{} ", command.words);
  return fmt::format("{}\n\nusage: profline {} {}[OPTIONS]\n\ncommon options\n{}",
                     wrap_words(command.summary, width), command.name, words,
                     option_rows(common, width));
}

std::string help_of_group(const CommandLine& command_line, std::string_view word,
                          std::size_t width) {
  std::string text = fmt::format("usage: profline {} WHAT [WORDS] [OPTIONS]\n\ncommands\n", word);
  for (const Verb* verb : command_line.group(word)) {
    text += help_row(fmt::format("{} {}", verb->name(), verb->words()), verb->summary(), width);
  }
  return text + fmt::format("\n'profline {} WHAT --help' shows the options of each.\n", word);
}

namespace {

/// A command as `profline help --format json` lists it.
struct CommandHelp {
  std::string name;
  std::string synopsis;
  std::string summary;
};
constexpr auto fields(std::type_identity<CommandHelp>) {
  return field_list(field("name", &CommandHelp::name, "one or two words").required(),
                    field("synopsis", &CommandHelp::synopsis, "a line to type").required(),
                    field("summary", &CommandHelp::summary, "what it does").required());
}

struct HelpDocument {
  static constexpr DocumentKind kKind{"help", 1};

  std::vector<CommandHelp> commands;
};
constexpr auto fields(std::type_identity<HelpDocument>) {
  return field_list(field("commands", &HelpDocument::commands, "of profline").required());
}

}  // namespace

Result<std::string> help_document(std::span<const Verb* const> verbs,
                                  std::span<const WordCommand> words) {
  HelpDocument document;
  for (const Verb* verb : verbs) {
    document.commands.push_back(
        {std::string(verb->name()), usage_of(*verb), std::string(verb->summary())});
  }
  for (const WordCommand& word : words) {
    const std::string synopsis = fmt::format("profline {} {}", word.name, word.words);
    document.commands.push_back(
        {std::string(word.name), std::string(trim(synopsis)), std::string(word.summary)});
  }
  return to_document(document);
}

namespace {

/// Text escaped for roff: backslashes and hyphens are literal, and no line is taken for a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool starts_line = out.empty() || out.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string roff_entry(std::string_view term, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(term), roff(text));
}

std::string roff_options(std::span<const Option> options) {
  std::string text;
  for (const Option& option : options) text += roff_entry(option_text(option), option_help(option));
  return text;
}

std::string roff_command(const Verb& verb) {
  std::string text = fmt::format(".SS {}\n{}.\n.PP\n.B {}\n", roff(verb.name()),
                                 roff(verb.summary()), roff(usage_of(verb)));
  text += roff_options(verb.options());
  text += ".PP\nExamples:\n";
  for (const Example& example : verb.examples()) {
    text += fmt::format(".PP\n.nf\n.RS\n{}\n.RE\n.fi\n.RS\n{}\n.RE\n", roff(example.command),
                        roff(example.purpose));
  }
  return text;
}

constexpr std::string_view kDescription = R"(.SH DESCRIPTION
profline composes one Hydra\-style configuration, runs the stages that are enabled (static
analysis, an unprofiled baseline, the PyTorch profiler, Nsight Systems, Nsight Compute,
inference), verifies every capture, joins the results, judges what limits each phase, and
writes a run directory with a report for people and JSON for programs.
)";

constexpr std::string_view kManualEnd = R"(.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
A stage failed, a comparison found a regression, or the output could not be written.
.TP
.B 2
The input is malformed or contradictory.
.TP
.B 3
A tool, file or device that was named is missing.
.TP
.B 130
Interrupted.
.SH ENVIRONMENT
.TP
.B NO_COLOR
If set, messages have no colours.
.TP
.B TMPDIR
Where temporary files go.
.SH SEE ALSO
.BR nsys (1),
.BR ncu (1)
)";

}  // namespace

std::string manual_page(const CommandLine& command_line) {
  std::string text =
      fmt::format(".TH PROFLINE 1 \"\" \"profline {}\" \"User Commands\"\n", kVersion);
  text += ".SH NAME\nprofline \\- one config, every profiler, for LLM inference\n";
  text += ".SH SYNOPSIS\n.B profline\n.I COMMAND\n[\\fIWORDS\\fR] [\\fIOPTIONS\\fR]\n";
  text += kDescription;
  text += ".SH COMMON OPTIONS\n" + roff_options(command_line.shared_options());
  text += ".SH COMMANDS\n";
  for (const auto& verb : command_line.verbs()) text += roff_command(*verb);
  for (const WordCommand& command : word_commands()) {
    text += fmt::format(".SS {}\n{}.\n", roff(command.name), roff(command.summary));
  }
  return text + std::string(kManualEnd);
}

}  // namespace profline
