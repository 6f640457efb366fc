#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/static_model/cost.h"
#include "base/result.h"
#include "formats/node.h"
#include "run/names/artifact_names.h"
#include "run/run.h"
#include "settings/hardware.h"

namespace profline::summary {

/// What `static_compute.json` says, as far as measured times are held against it.
struct StaticCosts {
  static_model::NumberFormat format;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t new_tokens = 0;
  std::uint64_t context = 0;    ///< of the phase Decode
  std::string shapes_from;      ///< `model.preprocess`, or a picture's name
  settings::Ceilings ceilings;  ///< of the device, for this format alone; empty: not known
  std::vector<static_model::PhaseCost> phases;  ///< Decode is of one step
};

/// Keys that are not needed here are passed over. An Error names the key that is missing or of
/// another type.
Result<StaticCosts> read_static_costs(const Node& document);

namespace internal {
Result<StaticCosts> read_static_costs_file(const run::Run& run, const std::filesystem::path& file);
}  // namespace internal

inline constexpr run::ArtifactName<StaticCosts> kStaticCosts{run::paths::kStaticCompute,
                                                             internal::read_static_costs_file};

}  // namespace profline::summary
