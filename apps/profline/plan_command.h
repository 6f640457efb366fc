#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline plan`: what a run with this configuration would do, stage by stage. Runs nothing.
class PlanVerb final : public Verb {
 public:
  std::string_view name() const override { return "plan"; }
  std::string_view summary() const override {
    return "show the enabled stages and the exact commands they would run";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline plan pipeline.nsys.enable=true", "what a run with Nsight Systems would do"},
        {"profline plan -cn demo --format json", "the same for programs to read"},
    };
  }
  std::string_view words() const override { return "[OVERRIDES]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
