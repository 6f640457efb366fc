#pragma once

#include "base/result.h"
#include "configuration.h"
#include "pipeline/stage.h"

namespace profline {

/// The config as it was composed (config.yaml), what the user changed (overrides.yaml), what every
/// process of the run is handed (config.resolved.json), and where each value comes from
/// (config.origins.json), into the run's folder. Where hydra.output_subdir names a folder, also
/// what Hydra writes there: config.yaml, hydra.yaml and overrides.yaml.
Result<void> write_config_files(const Configuration& configuration,
                                const pipeline::RunSetup& setup);

}  // namespace profline
