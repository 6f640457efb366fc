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

/// What static analysis leaves behind: `static_compute.json`, `static_compute.md`, and the same as
/// text for a terminal. docs/formats/static_compute.md describes the first.
namespace profline::static_model {

/// A phase's FLOPs by the module graph, beside what the closed forms give for the same shapes.
struct TracedPhase {
  std::string phase;
  Count traced_flops;
  Count closed_form_flops;

  /// Of the traced FLOPs; none without any.
  std::optional<double> difference() const;
};

/// A cost with all that a report says of it.
struct StaticCompute {
  ModelCost cost;
  Request request;
  std::vector<ViewBatch> views;       ///< empty: no pictures
  settings::Ceilings ceilings;        ///< empty: a device that is not known has no floors
  std::string device;                 ///< as it was asked for; empty: none was
  std::string shapes_from;            ///< `model.preprocess`, `page-0001`, `the command line`
  std::string config_from;            ///< the config.json, or what stands for one
  std::vector<TracedPhase> traced{};  ///< empty: the graph was not traced
};

Node to_node(const StaticCompute& result);
std::string to_markdown(const StaticCompute& result);
std::string to_text(const StaticCompute& result);

/// Writes `static_compute.json` and `static_compute.md` into a folder that is there.
Result<void> write_static_compute(const StaticCompute& result, const std::filesystem::path& folder);

}  // namespace profline::static_model
