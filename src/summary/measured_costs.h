#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/static_model/cost.h"
#include "summary/run_artifacts.h"

namespace profline::summary {

/// What the measured work of one stage costs by its shapes: of all samples together.
struct WorkCost {
  double units = 0;        ///< images, or tokens after the first
  double measured_ns = 0;  ///< what they took
  double flops = 0;
  double bytes = 0;  ///< of weights and KV cache
  std::optional<double> compute_ns;
  std::optional<double> memory_ns;
  std::optional<double> floor_ns;
};

/// Costs of what the baseline measured, stage by stage.
struct MeasuredCosts {
  std::string device;    ///< whose ceilings: `NVIDIA H200`, `this CPU`; empty: none are known
  std::string ceilings;  ///< the same with where they are from
  std::string shapes;    ///< `each image's own`, or what static analysis took instead
  std::string source;    ///< files
  std::optional<double> peak_operations_per_second;
  std::vector<std::string> notes;

  /// By the names of samples: sam, clip, projector, lm, decode. Null: there is no such figure, and
  /// `why_not` has the reason.
  const WorkCost* find(std::string_view stage) const;
  std::string why_not;

  struct Entry {
    std::string stage;
    WorkCost cost;
  };
  std::vector<Entry> entries;
};

/// By the closed forms of static analysis, at the shapes that each sample had: a page of another
/// size has other tiles. Where those cannot be told, the figures of static_compute.json are used
/// for samples with as many prompt tokens as it assumes, and for none if there are no such samples.
/// Ceilings are those of static_compute.json; on a CPU the measured ones of metrics.json.
MeasuredCosts measured_costs(const RunArtifacts& run);

}  // namespace profline::summary
