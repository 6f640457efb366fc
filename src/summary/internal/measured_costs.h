#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/requests/phases.h"
#include "analysis/requests/steady.h"
#include "analysis/static_model/cost.h"
#include "run/artifacts.h"

namespace profline::summary {

/// The theoretical cost, for the model's shapes, of the work that was measured in one phase, summed
/// over the steady part of all requests.
struct WorkCost {
  double units = 0;        ///< steady requests, or steps
  double measured_ns = 0;  ///< measured time of all units
  double flops = 0;
  double bytes = 0;  ///< of weights and KV cache
  std::optional<double> compute_ns;
  std::optional<double> memory_ns;
  std::optional<double> floor_ns;
};

/// The costs of what the baseline measured, per phase.
struct MeasuredCosts {
  std::string device;    ///< of the ceilings: `NVIDIA H200`, `this CPU`; empty: not known
  std::string ceilings;  ///< the same with their source
  std::string
      shapes;  ///< `each image's own`, `each request's own`, or what static analysis took instead
  std::string source;  ///< files
  std::optional<double> peak_operations_per_second;
  std::vector<std::string> notes;

  /// The cost of a phase by name. Null: not known, and `why_not` has the reason.
  const WorkCost* find(std::string_view phase) const;
  std::string why_not;

  struct Entry {
    std::string phase;
    WorkCost cost;
  };
  std::vector<Entry> entries;
};

/// Uses the closed forms of static analysis with the shapes of each request: pages of different
/// sizes have different tiles, and prompts different lengths. If shapes are not known, the figures
/// of static_compute.json are used for requests that have as many prompt tokens as it assumes, if
/// any. Ceilings come from static_compute.json; on a CPU, from the measured ones in metrics.json.
MeasuredCosts measured_costs(const run::Run& run, const requests::PhaseTree& tree,
                             const requests::SteadyPart& steady);

}  // namespace profline::summary
