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
    return "compare two runs or two folders of runs, with a verdict per metric";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline compare runs/base runs/head", "what changed; exit code 1 for a regression"},
        {"profline compare runs/base runs/head --metric request_ms --threshold 3%",
         "one metric; changes up to 3 % do not count"},
    };
  }
  std::string_view words() const override { return "RUN_A RUN_B"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
