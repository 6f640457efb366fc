#include "kernels_command.h"

#include "base/strings.h"
#include "kernels_analyze.h"
#include "kernels_profile.h"
#include "kernels_regions.h"
#include "kernels_top.h"

namespace profline {

std::vector<Option> KernelsVerb::options() const {
  std::vector<Option> options = kernels_top_options();
  for (Option& option : kernels_profile_options()) options.push_back(std::move(option));
  for (Option& option : kernels_analyze_options()) options.push_back(std::move(option));
  for (Option& option : kernels_regions_options()) options.push_back(std::move(option));
  return options;
}

Result<ExitCode> KernelsVerb::run(const Services& services, const Invocation& invocation) const {
  const std::vector<std::string> actions = {"top", "profile", "analyze", "regions"};
  const std::vector<std::string>& words = invocation.arguments.words;
  if (words.empty()) {
    return Error(ErrorKind::Config,
                 "'kernels' needs to know what to do, as in 'profline kernels top run.sqlite'")
        .with_reason("usage");
  }
  Invocation rest = invocation;
  rest.arguments.words.erase(rest.arguments.words.begin());
  if (words.front() == "top") return kernels_top(services, rest);
  if (words.front() == "profile") return kernels_profile(services, rest);
  if (words.front() == "analyze") return kernels_analyze(services, rest);
  if (words.front() == "regions") return kernels_regions(services, rest);
  return Error(ErrorKind::Config, "'kernels " + words.front() + "' is not known; there is '" +
                                      join(actions, "', '") + "'" +
                                      did_you_mean(words.front(), actions))
      .with_reason("usage");
}

}  // namespace profline
