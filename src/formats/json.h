#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/node.h"

namespace profline {

/// How many lists and maps may be inside one another, in what is read and in what is written.
/// Deeper text is refused, so that code which walks a tree may recurse.
constexpr std::size_t kJsonMaxDepth = 1000;

/// How many digits an integer may have, in what is read and in what is written.
constexpr std::size_t kJsonMaxIntegerDigits = 308;

/// The tree that `text` holds (RFC 8259), each value and key with its place in it.
///
/// Integers outside int64 are kept as big integers, and numbers written with '.' or an exponent are
/// floats. Refused, with position and excerpt: all that the RFC forbids (NaN and Infinity,
/// comments, trailing commas, invalid UTF-8, half surrogate pairs, a byte order mark), text after
/// the value, duplicate keys, floats too large for a double, and what exceeds the limits above.
/// Takes time and memory linear in the text. For files of gigabytes see json_stream.h.
Result<Node> parse_json(std::string_view text, std::string source);

}  // namespace profline
