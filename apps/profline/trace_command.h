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
    return "what a Kineto or Chrome trace, or an nsys SQLite, says: kernels, operators, idle time";
  }
  std::string_view words() const override { return "FILE..."; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
