#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/node.h"

namespace profline::config {

/// Reads a config file as OmegaConf.load does: YAML whose root is a map or a list. Nothing is an
/// empty map, and a text is read once more as create_config does.
///
/// The reason of an Error is `yaml`, `yaml_root_type` (the root is a number or a boolean),
/// `key_type`, `validation` (a type that configs do not have), `circular` (an alias inside its
/// anchor) or `grammar` (an interpolation that does not parse).
Result<Node> load_config(std::string_view text, std::string source);

/// Makes a config of YAML text as OmegaConf.create does: as load_config, but a text is the one key
/// of a map, with the value null.
Result<Node> create_config(std::string_view text, std::string source);

/// Checks what was not read by the above: no key is null, and every text that holds `${` parses.
Result<void> check_config(const Node& tree);

}  // namespace profline::config
