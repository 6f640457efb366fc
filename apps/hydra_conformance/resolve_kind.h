#pragma once

#include <string_view>

#include "config/resolve.h"
#include "formats/node.h"

namespace profline::conformance {

/// `2031-02-03T04:05:06.789012`
config::LocalTime parse_time(std::string_view text);

/// The environment and the clock that a vector's input sets; the input must outlive it.
config::ResolveContext resolve_context(const Node& input);

}  // namespace profline::conformance
