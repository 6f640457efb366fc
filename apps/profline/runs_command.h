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
    return "runs under the output root, newest first; show one, prune old ones";
  }
  std::string_view words() const override { return "[show RUN|prune|rebuild]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
