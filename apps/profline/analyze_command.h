#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline analyze`: what a model costs by its shapes, from the configuration or from a
/// config.json alone. Nothing is run.
class AnalyzeVerb final : public Verb {
 public:
  std::string_view name() const override { return "analyze"; }
  std::string_view summary() const override {
    return "compute what a model costs from its shapes; runs nothing";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline analyze -cn demo", "FLOPs, bytes and minimum times of the tiny model"},
        {"profline analyze model/deepseek_ocr/arch@model=deepseek_ocr.random",
         "the full-size model, without its weights"},
    };
  }
  std::string_view words() const override { return "[OVERRIDES]"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
