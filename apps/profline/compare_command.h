#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline compare RUN_A RUN_B`: what changed, with a verdict per metric and an exit code.
class CompareVerb final : public Verb {
 public:
  std::string_view name() const override { return "compare"; }
  std::string_view summary() const override {
    return "what changed between two runs, or two folders of runs, with a verdict per metric";
  }
  std::string_view words() const override { return "RUN_A RUN_B"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
