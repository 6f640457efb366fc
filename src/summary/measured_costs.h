#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/requests/phases.h"
#include "analysis/static_model/cost.h"
#include "run/artifacts.h"

namespace profline::summary {

/// What the measured work of one phase costs by its shapes: of all requests together.
struct WorkCost {
  double units = 0;        ///< requests, or steps
  double measured_ns = 0;  ///< what they took
  double flops = 0;
  double bytes = 0;  ///< of weights and KV cache
  std::optional<double> compute_ns;
  std::optional<double> memory_ns;
  std::optional<double> floor_ns;
};

/// Costs of what the baseline measured, phase by phase.
struct MeasuredCosts {
  std::string device;    ///< whose ceilings: `NVIDIA H200`, `this CPU`; empty: none are known
  std::string ceilings;  ///< the same with where they are from
  std::string shapes;    ///< `each image's own`, or what static analysis took instead
  std::string source;    ///< files
  std::optional<double> peak_operations_per_second;
  std::vector<std::string> notes;

  /// By a phase's name. Null: there is no such figure, and `why_not` has the reason.
  const WorkCost* find(std::string_view phase) const;
  std::string why_not;

  struct Entry {
    std::string phase;
    WorkCost cost;
  };
  std::vector<Entry> entries;
};

/// By the closed forms of static analysis, at the shapes that each request had: a page of
/// another size has other tiles. Where those are not known, the figures of static_compute.json are
/// used for requests with as many prompt tokens as it assumes, if there are any.
/// Ceilings are those of static_compute.json; on a CPU the measured ones of metrics.json.
MeasuredCosts measured_costs(const run::Run& run, const requests::PhaseTree& tree);

}  // namespace profline::summary
