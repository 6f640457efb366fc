#include "explain_command.h"

#include "explanation.h"
#include "standard_streams.h"
#include "text_table.h"

namespace profline {

std::vector<Option> ExplainVerb::options() const {
  return config_choice_options();
}

Result<ExitCode> ExplainVerb::run(const Services& /*services*/,
                                  const Invocation& invocation) const {
  ConfigChoice choice = config_choice(invocation.arguments);
  if (choice.overrides.empty() || looks_like_override(choice.overrides.front())) {
    return Error(ErrorKind::Config,
                 "'explain' needs the key to explain first, as in 'profline explain device'")
        .with_reason("usage");
  }
  const std::string key = choice.overrides.front();
  choice.overrides.erase(choice.overrides.begin());
  const auto configuration = PL_TRY(Configuration::compose(choice));
  const Explanation explanation = PL_TRY(explain(*configuration, key));
  print_remarks(*configuration, invocation.output);
  const std::string text = invocation.output.format == OutputFormat::Json
                               ? PL_TRY(explanation_json(explanation))
                               : for_terminal(explanation_text(explanation));
  PL_TRY(print_result(text));
  return ExitCode::Done;
}

}  // namespace profline
