#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "formats/node.h"

namespace profline::config {

/// The type of a value in a part of a configuration that has types, as the hydra node does.
struct TypeRule {
  enum class Kind : std::uint8_t {
    Any,
    String,
    Integer,
    Boolean,
    Name,    ///< one of `names`
    List,    ///< of `element`
    Map,     ///< from strings to `element`
    Record,  ///< with just the keys of `members`
  };
  using Members = std::vector<std::pair<std::string_view, TypeRule>>;

  Kind kind = Kind::Any;
  bool optional = false;  ///< null is allowed
  /// A record that takes other keys as well.
  bool open = false;
  std::vector<TypeRule> element = {};  ///< one, of a list or map
  Members members = {};
  std::vector<std::string_view> names = {};

  /// Of the value under `key`; null when it may be anything.
  const TypeRule* member(const Node& key) const;
  /// No key may be added to such a map.
  bool is_closed() const { return kind == Kind::Record && !open; }
};

/// The value as the type keeps it: `'3'` becomes 3 where an integer is wanted, 3 becomes `'3'`
/// where a string is. `???` and interpolations stay. An Error has the reason `validation`, or
/// `hydra_schema_key` for a key that a record does not have.
Result<Node> convert(Node value, const TypeRule* rule, const std::string& key);

/// The types of a whole configuration: of its `hydra` node, and of nothing else. Those of the
/// launcher and the sweeper are known for the built-in ones only.
TypeRule hydra_types(bool basic_launcher, bool basic_sweeper);

}  // namespace profline::config
