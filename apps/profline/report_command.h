#pragma once

#include "verb.h"

namespace profline {

/// `profline report RUN`.
class ReportVerb final : public Verb {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view summary() const override {
    return "write the reports again from the artifacts of a run";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline report tmp/profile-output/20261115-100000", "after an update of profline, say"},
    };
  }
  std::string_view words() const override { return "RUN"; }
  std::vector<Option> options() const override { return {}; }
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
