#pragma once

#include <span>

#include "base/files.h"

namespace profline {

/// Every YAML file of the project's `conf` folder as it was when the program was built, sorted by
/// path: the last place that configs are searched in.
std::span<const EmbeddedFile> shipped_config_files();

}  // namespace profline
