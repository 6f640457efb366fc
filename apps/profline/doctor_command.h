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
    return "GPU, driver, nsys, ncu, libtorch, counter permission, disk: found or the exact fix";
  }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
