#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/node.h"

namespace profline::config {

/// What Python's int(text) gives, nothing where it raises ValueError.
std::optional<Node> parse_python_int(std::string_view text);

/// The integer with these decimal digits, as an int64 where it fits. `digits` are one or more, with
/// '-' in front when negative; leading zeros do not count.
Node integer_node(std::string_view digits);

/// `value` without its fraction, towards zero; it is finite.
Node truncated(double value);

/// A boolean, integer, big integer or float as a double; nothing where Python raises OverflowError,
/// for an integer beyond the largest double.
std::optional<double> to_double(const Node& number);

}  // namespace profline::config
