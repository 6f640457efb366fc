#pragma once

#include <string_view>
#include <vector>

#include "verb.h"

namespace profline {

/// `profline kernels analyze DIR`: what bounds the kernels that ncu captured. Prints a table and
/// writes metrics_summary.csv, classification_summary.csv, all_metrics_long.csv, histograms.csv and
/// pictures into `DIR/analysis`.
class KernelsAnalyzeVerb final : public Verb {
 public:
  std::string_view name() const override { return "kernels analyze"; }
  std::string_view summary() const override {
    return "classify captured kernels: tables, rooflines, histograms";
  }
  std::vector<Example> examples() const override {
    return {
        {"profline kernels analyze tmp/ncu-profile/20261115-100000",
         "what bounds each captured kernel"},
    };
  }
  std::string_view words() const override { return "DIR"; }
  std::vector<Option> options() const override;
  Result<ExitCode> run(const Services& services, const Invocation& invocation) const override;
};

}  // namespace profline
