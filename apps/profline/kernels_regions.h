#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline kernels regions CAPTURE`: what ncu measured by the NVTX ranges of the program, with
/// inclusive and exclusive times, and rules over which kernels count where.
class KernelsRegionsVerb final : public Verb {
 public:
  std::string_view name() const override { return "kernels regions"; }
  std::string_view summary() const override {
    return "show what ncu measured per NVTX range, inclusive and exclusive";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline kernels regions ncu-raw.csv", "time and launches per range"},
    };
  }
  std::string_view words() const override { return "CAPTURE"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
