#pragma once

#include <string>
#include <string_view>

#include "formats/node.h"

namespace profline::config {

/// What Python's str() shows: strings as they are, `None`, `True`, `1.0`, `1e-05`, and lists and
/// maps as `[1, 'a', {'k': None}]`. Mixed text (`lr-${lr}`) is made with it.
std::string python_str(const Node& node);

/// What Python's repr() shows: as python_str, but strings in quotes and escaped.
std::string python_repr(const Node& node);
std::string python_repr(std::string_view text);

}  // namespace profline::config
