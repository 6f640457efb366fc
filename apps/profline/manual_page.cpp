#include "manual_page.h"

#include <fmt/core.h>

#include "command_help.h"
#include "profline_version.h"

namespace profline {
namespace {

/// Text as roff prints it: backslashes and hyphens as they are, no line taken for a request.
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

std::string entry(std::string_view term, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(term), roff(text));
}

std::string options_of(std::span<const Option> options) {
  std::string text;
  for (const Option& option : options) text += entry(option_text(option), option_help(option));
  return text;
}

std::string command_of(const Verb& verb) {
  std::string text = fmt::format(".SS {}\n{}.\n.PP\n.B {}\n", roff(verb.name()),
                                 roff(verb.summary()), roff(usage_of(verb)));
  text += options_of(verb.options());
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

constexpr std::string_view kClosing = R"(.SH EXIT STATUS
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
  text += ".SH COMMON OPTIONS\n" + options_of(command_line.shared_options());
  text += ".SH COMMANDS\n";
  for (const auto& verb : command_line.verbs()) text += command_of(*verb);
  for (const WordCommand& command : word_commands()) {
    text += fmt::format(".SS {}\n{}.\n", roff(command.name), roff(command.summary));
  }
  return text + std::string(kClosing);
}

}  // namespace profline
