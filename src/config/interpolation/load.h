#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/node.h"

namespace profline::config {

/// Reads a config file as OmegaConf.load does: YAML whose root is a map or a list. An empty
/// document is an empty map, and a string is parsed once more, as by create_config.
///
/// The reason of an Error is `yaml`, `yaml_root_type` (the root is a number or a boolean),
/// `key_type`, `validation` (a type that configs do not have), `circular` (an alias inside its
/// anchor) or `grammar` (an interpolation that does not parse).
Result<Node> load_config(std::string_view text, std::string source);

/// Makes a config from YAML text as OmegaConf.create does: as load_config, but a string becomes the
/// only key of a map, with the value null.
Result<Node> create_config(std::string_view text, std::string source);

/// Checks a tree from elsewhere: no key is null, and every text that contains `${` parses.
Result<void> check_config(const Node& tree);

}  // namespace profline::config
