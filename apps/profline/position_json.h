#pragma once

#include <vector>

#include "base/error.h"
#include "formats/node.h"

namespace profline {

/// `source`, `line` and `column`, each null where unknown, set in `entry`.
void set_position(const Position& position, NodeMap& entry);

/// A list with `message`, `source`, `line` and `column` of each.
Node problems_json(const std::vector<Error>& problems);

}  // namespace profline
