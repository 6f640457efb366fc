#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/static_model/cost.h"
#include "base/result.h"
#include "formats/node.h"
#include "records/run_summary.h"
#include "run/artifacts.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "settings/hardware.h"

namespace profline::summary {

/// The parts of `static_compute.json` that measured times are compared with.
struct StaticCosts {
  static_model::NumberFormat format;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t new_tokens = 0;
  std::uint64_t batch = 1;
  std::uint64_t context = 0;    ///< of the phase Decode
  std::string shapes_from;      ///< `model.preprocess`, or a picture's name
  settings::Ceilings ceilings;  ///< of the device, only for this format; empty: not known
  std::vector<static_model::PhaseCost> phases;  ///< Decode covers one step
};

/// Ignores keys that are not needed here. An Error names the key that is missing or has the wrong
/// type.
Result<StaticCosts> read_static_costs(const Node& document);

namespace internal {
Result<StaticCosts> read_static_costs_file(const run::Run& run, const std::filesystem::path& file);
}  // namespace internal

inline constexpr run::ArtifactName<StaticCosts> kStaticCosts{run::paths::kStaticCompute,
                                                             internal::read_static_costs_file};

/// The bandwidth that the run's floors were computed with (from the device table, measured, or from
/// MEM_BANDWIDTH_GBS), else the one that ncu's DRAM throughput implies for 100 %. Shares that
/// include caches are never used: they would make the roof too low. Nothing: neither is known.
std::optional<SummaryMemoryRoof> memory_roof(const run::Run& run,
                                             const std::vector<PhaseSummary>& phases);

}  // namespace profline::summary
