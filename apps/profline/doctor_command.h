#pragma once

#include <vector>

#include "verb.h"

namespace profline {

/// `profline doctor`: what of GPU, driver, profilers, libtorch and disk is usable here, and the fix
/// for what is not.
class DoctorVerb final : public Verb {
 public:
  std::string_view name() const override { return "doctor"; }
  std::string_view summary() const override {
    return "check GPU, driver, nsys, ncu, libtorch, permissions and disk";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline doctor", "what works here, and how to fix what does not"},
        {"profline doctor --require gpu,nsys", "exit code 3 if one of them is missing"},
    };
  }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
