#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "formats/node.h"

namespace profline::config {

/// The type of a value in a typed part of a configuration, such as the hydra node.
struct TypeRule {
  enum class Kind : std::uint8_t {
    Any,
    String,
    Integer,
    Boolean,
    Name,    ///< one of `names`
    List,    ///< of `element`
    Map,     ///< from strings to `element`
    Record,  ///< with only the keys of `members`
  };
  using Members = std::vector<std::pair<std::string_view, TypeRule>>;

  // Defined where a member of a record is complete: Clang looks into its pair otherwise.
  TypeRule();
  TypeRule(const TypeRule& other);
  TypeRule(TypeRule&& other) noexcept;
  TypeRule& operator=(const TypeRule& other);
  TypeRule& operator=(TypeRule&& other) noexcept;
  ~TypeRule();

  Kind kind = Kind::Any;
  bool optional = false;  ///< null is allowed
  /// A record that allows other keys as well.
  bool open = false;
  std::vector<TypeRule> element;  ///< for a list or map: one item
  Members members;
  std::vector<std::string_view> names;

  /// The rule for the value under `key`; null if it may be anything.
  const TypeRule* member(const Node& key) const;
  /// No key may be added to this map.
  bool is_closed() const { return kind == Kind::Record && !open; }
};

/// The value converted to the type: `'3'` becomes 3 for an integer, 3 becomes `'3'` for a string.
/// `???` and interpolations stay. An Error has the reason `validation`, or `hydra_schema_key` for a
/// key that a record does not have.
Result<Node> convert(Node value, const TypeRule* rule, const std::string& key);

/// The types of a whole configuration: only its `hydra` node is typed. Those of the launcher and
/// the sweeper are known only for the built-in ones.
TypeRule hydra_types(bool basic_launcher, bool basic_sweeper);

}  // namespace profline::config
