#pragma once

#include <span>

#include "base/files.h"

namespace profline {

/// Every YAML file of the project's `conf` folder at build time, sorted by path: the last place
/// where configs are searched for.
std::span<const EmbeddedFile> shipped_config_files();

}  // namespace profline
