#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline kernels ACTION`: what of a report to profile next, and what came of it.
class KernelsVerb final : public Verb {
 public:
  std::string_view name() const override { return "kernels"; }
  std::string_view summary() const override {
    return "top: the kernels of an nsys report by time; profile: one ncu capture each; analyze: "
           "what "
           "bounds them; regions: their time by NVTX range";
  }
  std::string_view words() const override {
    return "top REPORT | profile -- PROGRAM... | analyze DIR | regions CAPTURE";
  }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
