#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/node.h"

/// Numbers as Python reads and writes them: PyYAML's scalars, and what Hydra's users see in
/// override strings, job names and casts.
namespace profline {

/// Longest integer that is read, in decimal digits: CPython's own limit for int().
constexpr std::size_t kMaxIntegerDigits = 4300;

/// A whole number as its decimal digits ('-' in front when negative, no zeros in front), or nothing
/// when `text` is not what Python's int(text, base) takes or is longer than kMaxIntegerDigits.
/// `base` is 2, 8, 10 or 16. Blanks around it, a sign and single underscores between digits are
/// allowed.
std::optional<std::string> python_int(std::string_view text, unsigned base);

/// `text` of base-60 digits between colons (`1:30` is 90), as python_int gives it. No sign.
std::optional<std::string> sexagesimal_int(std::string_view text);

/// What Python's float(text) gives, or nothing where that raises. Blanks around it and single
/// underscores between digits are allowed. Beyond the range of double it is infinite, or zero.
std::optional<double> python_float(std::string_view text);

/// Python's repr(): the shortest digits that read back as `value`; `1.0`, `1e+16`, `1e-05`, `inf`.
std::string python_repr(double value);

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

}  // namespace profline
