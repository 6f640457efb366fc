#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profline::kernels::internal {

/// A demangled name with one spelling for each thing, in which is marked what tools leave out.
struct ParsedName {
  /// With kPathBegin path kPathEnd before each name that stands in namespaces, and what only some
  /// tools show between kExtraBegin and kExtraEnd.
  std::string marked;
  std::string function;                ///< of the outermost name
  std::vector<std::string> mentioned;  ///< names inside its template arguments, in order
};

inline constexpr char kPathBegin = '\x01';
inline constexpr char kPathEnd = '\x02';
inline constexpr char kExtraBegin = '\x03';
inline constexpr char kExtraEnd = '\x04';

/// Nothing when the text is not what a demangler writes: unbalanced brackets (a name that was cut),
/// control characters, deeper nesting than names have.
std::optional<ParsedName> parse_name(std::string_view text);

}  // namespace profline::kernels::internal
