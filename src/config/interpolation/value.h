#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/node.h"

namespace profline::config {

/// A node of a configuration and the path to it. Interpolations are relative to the place that
/// contains them, so a value that is reached through a reference keeps its own place.
struct Place {
  const Node* node = nullptr;
  const Place* parent = nullptr;  ///< the map or list that contains it; null: the root of a tree
};

/// `a.b[0].c`; empty for a root.
std::string full_key(const Place& place);

/// Where the node was written, or its nearest enclosing node with a position.
Position written_at(const Place& place);

/// The result of an expression: a place in a configuration, or a value of its own.
///
/// The difference is that between config containers and plain lists and dicts in Python: keys lead
/// only into the former, and only there are interpolations resolved. A `${…}` in a plain value is
/// text.
class Value {
 public:
  using Items = std::vector<Value>;
  using Entries = std::vector<std::pair<Node, Value>>;

  Value() = default;  // null
  explicit Value(Node plain) : content_(std::move(plain)) {}
  explicit Value(const Place& place) : content_(&place) {}
  explicit Value(Items items) : content_(std::move(items)) {}
  explicit Value(Entries entries) : content_(std::move(entries)) {}

  /// The place; null for a plain value.
  const Place* place() const;
  /// The place, if it holds a map or a list.
  const Place* container() const;
  /// The node of a place or of a plain value; null for items and entries.
  const Node* node() const;
  const Items* items() const { return std::get_if<Items>(&content_); }
  const Entries* entries() const { return std::get_if<Entries>(&content_); }

  /// The text of a string; null for anything else.
  const std::string* text() const;
  bool is_null() const;
  /// `a map`, `an integer`, … for messages.
  std::string_view described() const;

  /// As shown by Python's str() and repr(), with interpolations unresolved.
  std::string str() const;
  std::string repr() const;

 private:
  std::variant<Node, const Place*, Items, Entries> content_;
};

/// True for the text `???`, which marks a value that must still be set.
bool is_missing(const Node& node);

/// The steps of a key, split like OmegaConf does; dots and brackets may be mixed:
///   `a.b` `a[b]` `[a].b` `[a][b]` -> {a, b}      `.a` -> {"", a}
/// Nothing is refused: a bracket that is never closed is dropped with what follows it up to the
/// next dot or bracket. There is at least one step: if nothing would be left, it is the whole key.
std::vector<std::string> split_key(std::string_view key);

/// The number that Python's int() reads from `text` (spaces around it, a sign and single
/// underscores between digits are allowed), clamped to the range of int64.
std::optional<std::int64_t> list_index(std::string_view text);

/// `key` with one more step: `a` and `b` give `a.b`.
std::string join_key(std::string_view key, std::string_view step);
/// `a` and 3 give `a[3]`.
std::string join_key(std::string_view key, std::size_t index);

/// What Python's str() shows: strings as they are, `None`, `True`, `1.0`, `1e-05`, and lists and
/// maps as `[1, 'a', {'k': None}]`. Mixed text (`lr-${lr}`) uses it.
std::string python_str(const Node& node);

/// What Python's repr() shows: as python_str, but strings in quotes and escaped.
std::string python_repr(const Node& node);
std::string python_repr(std::string_view text);

}  // namespace profline::config
