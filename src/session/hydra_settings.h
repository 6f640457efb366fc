#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/compose.h"
#include "config/interpolation/resolve.h"
#include "config/overrides/override.h"

/// What profline takes from the `hydra` node, beside run.dir, sweep.dir, sweep.subdir, job.chdir
/// and searchpath. docs/hydra-compat.md has every key.
namespace profline::session {

/// A composition and the context that resolves it.
struct HydraNode {
  const Node& root;
  const config::ResolveContext& context;
};

/// `hydra.mode`; nothing if it is null.
Result<std::optional<config::RunMode>> hydra_mode(const HydraNode& hydra);

/// `hydra.output_subdir`: the folder of config.yaml, hydra.yaml and overrides.yaml, relative to the
/// run's folder; nothing if it is null. An Error if it is not inside.
Result<std::optional<std::filesystem::path>> hydra_output_subdir(const HydraNode& hydra);

/// The part of `hydra.sweeper` that the basic sweeper has. An Error if the config names another
/// sweeper.
struct SweeperSettings {
  std::vector<config::Override> params;  ///< each `key: sweep` as an override
  std::optional<std::int64_t> max_batch_size;
};
Result<SweeperSettings> sweeper_settings(const HydraNode& hydra);

/// One sentence for each part of the node that was set but that profline ignores.
std::vector<std::string> ignored_hydra_settings(const config::Composition& composition);

}  // namespace profline::session
