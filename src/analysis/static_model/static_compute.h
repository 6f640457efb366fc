#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/static_model/cost.h"
#include "analysis/static_model/deepseek_ocr.h"
#include "base/result.h"
#include "formats/node.h"
#include "settings/hardware.h"

/// The output of static analysis: `static_compute.json`, `static_compute.md`, and the same as text
/// for a terminal. docs/formats/static_compute.md describes the first.
namespace profline::static_model {

/// A phase's FLOPs according to the module graph, next to the closed forms for the same shapes.
struct TracedPhase {
  std::string phase;
  Count traced_flops;
  Count closed_form_flops;

  /// Relative to the traced FLOPs; absent without traced FLOPs.
  std::optional<double> difference() const;
};

/// A cost with everything that a report says about it.
struct StaticCompute {
  ModelCost cost;
  Request request;
  std::vector<ViewBatch> views;       ///< empty: no pictures
  settings::Ceilings ceilings;        ///< empty: device not known, so there are no floors
  std::string device;                 ///< as requested; empty: no device was named
  std::string shapes_from;            ///< `model.preprocess`, `page-0001`, `the command line`
  std::string config_from;            ///< the config.json, or what replaces it
  std::vector<TracedPhase> traced{};  ///< empty: the graph was not traced
  std::optional<Count> counted{};     ///< parameters that the program's process counted
  std::string floors_withheld{};      ///< why there are no floors, if that is not the device
};

Node to_node(const StaticCompute& result);
std::string to_markdown(const StaticCompute& result);
std::string to_text(const StaticCompute& result);

/// Writes `static_compute.json` and `static_compute.md` into an existing folder.
Result<void> write_static_compute(const StaticCompute& result, const std::filesystem::path& folder);

}  // namespace profline::static_model
