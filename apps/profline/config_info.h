#pragma once

#include <string>
#include <vector>

#include "configuration.h"

namespace profline {

/// What `--info` can tell: `all`, `config`, `defaults`, `defaults-tree`, `searchpath`.
std::vector<std::string> info_names();

/// One of them, laid out as Hydra does; `all` is each of them in turn, and `config` is `all`.
std::string info_text(const Configuration& configuration, const std::string& what);
/// The same for programs: docs/formats/config.md.
Result<std::string> info_json(const Configuration& configuration, const std::string& what);

}  // namespace profline
