#include <algorithm>

#include <fmt/core.h>

#include "base/figures.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "formats/json.h"
#include "schema/docs.h"
#include "session/config_keys.h"
#include "standard_streams.h"
#include "text_table.h"
#include "verb.h"

namespace profline {
namespace {

using session::Explanation;
using session::SettingPlace;

constexpr std::size_t kWidestValue = 48;

/// On one line, and short enough to keep what follows visible.
std::string brief(const Node& value) {
  if (value.is_map()) {
    const std::size_t size = value.as_map().size();
    return size == 0 ? "{}" : "a map of " + counted(size, "key");
  }
  return fit_width(printable(schema::value_text(value)), kWidestValue);
}

struct Line {
  std::string mark, first, second, third;
};

std::string columns(const std::vector<Line>& lines) {
  std::size_t first = 0;
  std::size_t second = 0;
  for (const Line& line : lines) {
    first = std::max(first, display_width(line.first));
    second = std::max(second, display_width(line.second));
  }
  std::string text;
  for (const Line& line : lines) {
    std::string row = line.mark + pad_width(line.first, first) + "  " +
                      pad_width(line.second, second) + "  " + line.third;
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

std::string history_text(const Explanation& explanation) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < explanation.history.size(); ++i) {
    const SettingPlace& place = explanation.history[i];
    const bool is_last = i + 1 == explanation.history.size();
    lines.push_back({is_last ? "  > " : "    ", place.where,
                     place.origin.is_deletion ? "deleted" : brief(place.origin.value),
                     printable(place.detail)});
  }
  return lines.empty() ? "  > set by profline\n" : columns(lines);
}

std::string children_text(const Explanation& explanation) {
  std::vector<Line> lines;
  for (const Explanation::Child& child : explanation.children) {
    lines.push_back({"  ", child.key, brief(child.value),
                     child.last ? child.last->where : std::string("set by profline")});
  }
  return columns(lines);
}

std::string flag_text(const Explanation& explanation) {
  const bool is_group = explanation.value.is_map();
  return fmt::format("  {} {}\n", is_group ? "always passed as well:" : "becomes",
                     explanation.flag);
}

/// The value used without the key; nothing for a map, whose keys have their own defaults.
std::string default_text(const Explanation& explanation) {
  if (explanation.default_text.empty()) return {};
  const bool is_left_out = !explanation.flag.empty() && explanation.default_text == "null";
  return fmt::format("  > default  {}{}\n", printable(explanation.default_text),
                     is_left_out ? ": not passed" : "");
}

std::string explanation_text(const Explanation& explanation) {
  std::string text;
  if (explanation.asked) text = *explanation.asked + " leads to\n";
  if (explanation.is_deleted) {
    text += explanation.key + " is deleted\n";
  } else if (!explanation.is_set) {
    text += explanation.key + " is not set\n";
  } else if (explanation.value.is_map()) {
    text += explanation.key + ": " + brief(explanation.value) + '\n';
  } else {
    text += explanation.key + " = " + printable(schema::value_text(explanation.value)) + '\n';
  }
  if (explanation.resolved) {
    text += "  which is " + printable(schema::value_text(*explanation.resolved)) + '\n';
  }
  if (!explanation.type.empty()) {
    text += fmt::format("  {}: {}\n", explanation.type, explanation.help);
  }
  if (!explanation.flag.empty()) text += flag_text(explanation);
  if (!explanation.is_set) return text + default_text(explanation);
  if (explanation.is_deleted) return text + history_text(explanation) + default_text(explanation);
  return text +
         (explanation.children.empty() ? history_text(explanation) : children_text(explanation));
}

/// `profline explain KEY`: a value of the config, and all places that set it, first to last.
class ExplainVerb final : public Verb {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view summary() const override {
    return "show a config value and the files and overrides that set it";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline explain infer.max_new_tokens infer.max_new_tokens=64",
         "show where the value comes from"},
    };
  }
  std::string_view words() const override { return "KEY [OVERRIDES] [-- PROGRAM...]"; }
  bool takes_program() const override { return true; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace

std::vector<Option> ExplainVerb::options() const {
  return config_choice_options();
}

Result<ExitCode> ExplainVerb::run(const Services& services, const Invocation& invocation) const {
  session::ConfigChoice choice = config_choice(invocation.arguments);
  if (choice.overrides.empty() || looks_like_override(choice.overrides.front())) {
    return Error(ErrorKind::Config,
                 "'explain' needs the key to explain first, as in 'profline explain device'")
        .with_reason("usage");
  }
  const std::string key = choice.overrides.front();
  choice.overrides.erase(choice.overrides.begin());
  const auto configuration = PL_TRY(session::Configuration::compose(choice));
  const Explanation explanation = PL_TRY(session::explain(*configuration, key));
  report_composition(*configuration, services.remarks);
  const std::string text =
      invocation.output.format == OutputFormat::Json
          ? PL_TRY(write_json(session::explanation_document(explanation),
                              {.bytes_as_base64 = true, .scalar_keys_as_text = true}))
          : for_terminal(explanation_text(explanation));
  PL_TRY(print_result(text));
  return ExitCode::Done;
}

std::unique_ptr<Verb> explain_verb() {
  return std::make_unique<ExplainVerb>();
}

}  // namespace profline
