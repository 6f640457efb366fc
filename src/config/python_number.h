#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/node.h"

namespace profline::config {

/// Numbers as Python reads and writes them, because Hydra's users see Python's spelling: in
/// override strings, in job names, in casts.

/// The shortest text that reads back as `value`, as Python's repr(): `1.0`, `1e+16`, `1e-05`,
/// `inf`.
std::string python_float_text(double value);

/// What Python's float(text) gives, nothing where it raises ValueError. Blanks around the number
/// and single underscores between digits are allowed; `1e400` is infinite.
std::optional<double> parse_python_float(std::string_view text);

/// What Python's int(text) gives, nothing where it raises ValueError: blanks around it, a sign,
/// single underscores between digits, any number of leading zeros.
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
