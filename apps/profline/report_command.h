#pragma once

#include "verb.h"

namespace profline {

/// `profline report RUN`.
class ReportVerb final : public Verb {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view summary() const override {
    return "write the report again from the artifacts of a run";
  }
  std::string_view words() const override { return "RUN"; }
  std::vector<Option> options() const override { return {}; }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
