#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline infer`: the model over the dataset for its answers, no profiler.
class InferVerb final : public Verb {
 public:
  std::string_view name() const override { return "infer"; }
  std::string_view summary() const override {
    return "run the model over the dataset without a profiler; write predictions";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline infer -cn demo dataset.pages=2", "two drawn pages through the tiny model"},
    };
  }
  std::string_view words() const override { return "[OVERRIDES]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
