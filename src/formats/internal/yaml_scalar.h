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

/// The type that a full tag names (`tag:yaml.org,2002:int`); nothing for any other tag.
std::optional<YamlTag> yaml_tag(std::string_view tag);

/// The type that the text of a plain (unquoted) scalar implies, as in OmegaConf's loader: YAML 1.1
/// as PyYAML reads it, plus floats like `1e3`, and without timestamps.
YamlTag implicit_yaml_tag(std::string_view text);

/// Whether PyYAML alone would read a plain `text` as a date or a time. Our reader does not, but
/// writers quote such strings.
bool looks_like_timestamp(std::string_view text);

/// The value of a scalar of that type. An Error has no position; it says what `text` is not.
Result<Node> yaml_scalar(YamlTag tag, std::string text);

}  // namespace profline
