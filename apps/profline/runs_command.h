#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline runs`: the runs below the output root, newest first; one of them; or fewer of them.
class RunsVerb final : public Verb {
 public:
  std::string_view name() const override { return "runs"; }
  std::string_view summary() const override {
    return "list the runs under the output root, show one, prune old ones";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline runs --metric 'token_ms<5'", "runs that decode a token in under 5 ms"},
        {"profline runs prune --keep 20 --dry-run", "what would be removed to keep the newest 20"},
    };
  }
  std::string_view words() const override { return "[show RUN|prune|rebuild]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
