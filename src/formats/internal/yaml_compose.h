#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/internal/yaml_scalar.h"
#include "formats/internal/yaml_text.h"

namespace profline {

/// One YAML document as it is written: scalars are still text, aliases still references, merge keys
/// still keys. Nodes refer to their children by number, so an alias costs nothing; there are no
/// cycles.
struct YamlGraph {
  enum class Kind : std::uint8_t { Scalar, Sequence, Mapping };
  using Id = std::uint32_t;

  struct Item {
    Kind kind = Kind::Scalar;
    YamlTag tag = YamlTag::Null;
    bool is_open = false;      // its end was not reached yet
    std::uint32_t height = 0;  // levels of collections from here down, aliases followed
    std::uint64_t weight = 0;  // see kYamlAliasBudget; aliases followed
    TextPlace place;
    std::string text;          // of a scalar
    std::vector<Id> children;  // of a mapping: key, value, key, value, …
  };

  std::deque<Item> items;  // a deque, so that growing copies nothing
  Id root = 0;             // meaningless without items: the input has no document
  bool has_aliases = false;
};

/// Reads the one document of `text` with libyaml.
Result<YamlGraph> compose_yaml(const YamlText& text);

}  // namespace profline
