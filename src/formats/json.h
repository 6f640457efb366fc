#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/node.h"

namespace profline {

/// How deeply lists and maps may be nested, in input and output. Deeper text is refused, so that
/// code which walks a tree may recurse.
constexpr std::size_t kJsonMaxDepth = 1000;

/// How many digits an integer may have, in input and output.
constexpr std::size_t kJsonMaxIntegerDigits = 308;

/// Parses `text` (RFC 8259) into a tree, each value and key with its place in the text.
///
/// Integers outside int64 are kept as big integers, and numbers written with '.' or an exponent are
/// floats. Refused, with position and excerpt: everything the RFC forbids (NaN and Infinity,
/// comments, trailing commas, invalid UTF-8, half surrogate pairs, a byte order mark), text after
/// the value, duplicate keys, floats too large for a double, and whatever exceeds the limits above.
/// Takes time and memory linear in the text. For files of gigabytes see json_stream.h.
Result<Node> parse_json(std::string_view text, std::string source);

struct JsonStyle {
  /// Spaces per level; 0 writes one line without blanks (and without a line feed at its end).
  int indent = 2;
  /// JSON has no bytes: write them as base64 text, which reads back as a string.
  bool bytes_as_base64 = false;
  /// JSON's keys are strings: write other scalars as the text they would have as values (`1`,
  /// `true`), which reads back as a string.
  bool scalar_keys_as_text = false;
};

/// `tree` as JSON: the same bytes for equal trees, maps in their own order.
///
/// The output reads back as an equal tree: floats take the shortest form that does and keep their
/// point or exponent (`1.0`), big integers keep their digits. The two lossy conversions must be
/// enabled in the style. A third always applies, because a report about a kernel with a broken name
/// must still be written: each byte of a string that is not UTF-8 becomes U+FFFD.
///
/// An Error names the path of what JSON cannot represent: NaN and infinities, bytes and keys that
/// are not strings (unless the style allows them), two keys that would be written alike, and trees
/// beyond kJsonMaxDepth or kJsonMaxIntegerDigits.
Result<std::string> write_json(const Node& tree, const JsonStyle& style = {});

}  // namespace profline
