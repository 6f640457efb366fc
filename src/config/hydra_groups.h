#pragma once

#include <memory>

#include "config/config_source.h"

namespace profline::config {

/// Hydra's own config groups (`hydra/output`, `hydra/job_logging`, …), as `pkg://hydra.conf`. The
/// logging options are kept for programs in Python that are handed our configuration.
std::shared_ptr<const ConfigSource> hydra_groups();

/// The configs that have a type (`hydra/config`, `hydra/launcher/basic`, `hydra/sweeper/basic`), as
/// `structured://`.
std::shared_ptr<const ConfigSource> hydra_schemas();

}  // namespace profline::config
