#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline trace FILE...`: what captures say, made by anyone.
class TraceVerb final : public Verb {
 public:
  std::string_view name() const override { return "trace"; }
  std::string_view summary() const override {
    return "summarise a Kineto or Chrome trace or an nsys report";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline trace trace.json.gz",
         "kernels, operators and idle time of a torch.profiler trace"},
        {"profline trace run.sqlite --range decode", "only what happened in one NVTX range"},
    };
  }
  std::string_view words() const override { return "FILE..."; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
