#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/node.h"

/// Numbers as Python reads and writes them: PyYAML's scalars, and what Hydra's users see in
/// override strings, job names and casts.
namespace profline {

/// The longest integer that is read, in decimal digits: CPython's own limit for int().
constexpr std::size_t kMaxIntegerDigits = 4300;

/// A whole number as its decimal digits ('-' in front when negative, no leading zeros), or nothing
/// if Python's int(text, base) would not accept `text` or it is longer than kMaxIntegerDigits.
/// `base` is 2, 8, 10 or 16. Blanks around it, a sign and single underscores between digits are
/// allowed.
std::optional<std::string> python_int(std::string_view text, unsigned base);

/// `text` of base-60 digits between colons (`1:30` is 90), in the form of python_int. No sign.
std::optional<std::string> sexagesimal_int(std::string_view text);

/// What Python's float(text) returns, or nothing where that raises. Blanks around it and single
/// underscores between digits are allowed. Beyond the range of double it is infinite or zero.
std::optional<double> python_float(std::string_view text);

/// Python's repr(): the shortest digits that read back as `value`; `1.0`, `1e+16`, `1e-05`, `inf`.
std::string python_repr(double value);

/// What Python's int(text) returns, or nothing where that raises ValueError.
std::optional<Node> parse_python_int(std::string_view text);

/// The integer with these decimal digits, as an int64 if it fits. `digits` has at least one digit,
/// with '-' in front when negative; leading zeros are ignored.
Node integer_node(std::string_view digits);

/// `value`, which is finite, rounded towards zero.
Node truncated(double value);

/// A boolean, integer, big integer or float as a double; nothing where Python raises OverflowError,
/// for an integer beyond the largest double.
std::optional<double> to_double(const Node& number);

}  // namespace profline
