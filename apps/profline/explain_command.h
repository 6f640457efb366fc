#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline explain KEY`: a value of the config, and all places that set it, first to last.
class ExplainVerb final : public Verb {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view summary() const override {
    return "show a config value and the files and overrides that set it";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline explain infer.max_new_tokens infer.max_new_tokens=64",
         "where the value comes from"},
    };
  }
  std::string_view words() const override { return "KEY [OVERRIDES]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
