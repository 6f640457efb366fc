#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/node.h"

namespace profline {

/// The types of YAML 1.1 that PyYAML's SafeLoader knows.
enum class YamlTag : std::uint8_t {
  Null,
  Bool,
  Int,
  Float,
  Str,
  Binary,
  Timestamp,
  Merge,  ///< `<<`
  Value,  ///< `=`
  Seq,
  Map,
  Set,
  OrderedMap,
  Pairs,
};

/// The type a full tag names (`tag:yaml.org,2002:int`); nothing when it is none of the above.
std::optional<YamlTag> yaml_tag(std::string_view tag);

/// The type a plain (unquoted) scalar has by its text, after OmegaConf's loader: YAML 1.1 as PyYAML
/// has it, plus floats like `1e3`, and no timestamps.
YamlTag implicit_yaml_tag(std::string_view text);

/// Whether PyYAML alone would take a plain `text` for a date or a time. The reader does not, but
/// writers put such strings in quotes.
bool looks_like_timestamp(std::string_view text);

/// The value of a scalar of that type. An Error has no position; it says what `text` is not.
Result<Node> yaml_scalar(YamlTag tag, std::string text);

}  // namespace profline
