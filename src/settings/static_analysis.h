#pragma once

#include "settings/stage.h"

namespace profline::settings {

/// `pipeline.static_analysis`: what the model costs by its shapes.
struct StaticAnalysis : Stage {
  StaticAnalysis() { enable = Enable::Yes; }

  bool write_reports = true;
  bool use_analytic_fallback = true;
  bool use_synthetic_inputs = true;

  bool operator==(const StaticAnalysis&) const = default;
};
constexpr auto fields(std::type_identity<StaticAnalysis>) {
  return field_list(enable_field(),
                    field("write_reports", &StaticAnalysis::write_reports,
                          "write static_compute.json and static_compute.md"),
                    field("use_analytic_fallback", &StaticAnalysis::use_analytic_fallback,
                          "let closed forms stand in where the module graph cannot be traced"),
                    field("use_synthetic_inputs", &StaticAnalysis::use_synthetic_inputs,
                          "shapes from model.preprocess instead of the dataset's pictures"),
                    timeout_field());
}

}  // namespace profline::settings
