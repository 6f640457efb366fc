#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/redaction.h"

namespace profline {

class NodeMap;

/// Where a Node came from: like Position, but cheap to copy, because every Node has one.
struct Mark {
  std::shared_ptr<const std::string>
      source;  // shared by all nodes of one input; null: made by code
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  Position position() const { return {source ? *source : std::string(), line, column}; }
};

/// The tree that configuration and JSON are read into and written from: null, boolean, integer,
/// float, string, bytes, list or ordered map, each with its place in the input.
///
/// Integers and floats are distinct (1 is not 1.0). Keys of a map are scalars of any kind, as in
/// YAML; most code looks up by text, which finds string keys only.
class Node {
 public:
  enum class Kind : std::uint8_t { Null, Bool, Int, BigInt, Float, String, Bytes, List, Map };
  using List = std::vector<Node>;

  /// An integer outside int64, as its decimal digits, with '-' in front when negative.
  struct BigInt {
    std::string digits;
    bool operator==(const BigInt&) const = default;
  };
  /// The value of YAML's !!binary.
  struct Bytes {
    std::string bytes;
    bool operator==(const Bytes&) const = default;
  };

  Node() = default;  // null
  static Node boolean(bool value) { return Node(Value(value)); }
  static Node integer(std::int64_t value) { return Node(Value(value)); }
  static Node big_integer(std::string digits) { return Node(Value(BigInt{std::move(digits)})); }
  static Node real(double value) { return Node(Value(value)); }
  static Node string(std::string value) { return Node(Value(std::move(value))); }
  static Node bytes(std::string value) { return Node(Value(Bytes{std::move(value)})); }
  static Node list(List items = {}) { return Node(Value(std::move(items))); }
  static Node map();
  static Node map(NodeMap entries);

  Node(const Node& other);
  Node(Node&& other) noexcept;
  Node& operator=(const Node& other);
  Node& operator=(Node&& other) noexcept;
  ~Node();

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_null() const { return kind() == Kind::Null; }
  bool is_bool() const { return kind() == Kind::Bool; }
  bool is_int() const { return kind() == Kind::Int; }
  bool is_float() const { return kind() == Kind::Float; }
  bool is_string() const { return kind() == Kind::String; }
  bool is_list() const { return kind() == Kind::List; }
  bool is_map() const { return kind() == Kind::Map; }
  bool is_scalar() const { return !is_list() && !is_map(); }

  // Each requires the kind that it names; calling it on a Node of another kind is a bug.
  bool as_bool() const;
  std::int64_t as_int() const;
  const std::string& as_big_int() const;
  double as_float() const;
  const std::string& as_string() const;
  const std::string& as_bytes() const;
  const List& as_list() const;
  List& as_list();
  const NodeMap& as_map() const;
  NodeMap& as_map();

  /// The value under a string key; a null pointer if this is not a map or has no such key.
  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  /// The value at a path of keys and list indices (`a.b.0`); a null pointer if there is no value.
  const Node* find_path(std::string_view dotted) const;

  const Mark& mark() const { return mark_; }
  void set_mark(Mark mark) { mark_ = std::move(mark); }
  Position position() const { return mark_.position(); }

  /// Same kinds and values, maps with the same keys in the same order; places are ignored, and NaN
  /// equals NaN.
  bool operator==(const Node& other) const;

 private:
  using Value = std::variant<std::monostate, bool, std::int64_t, BigInt, double, std::string, Bytes,
                             List, std::unique_ptr<NodeMap>>;
  explicit Node(Value value) : value_(std::move(value)) {}

  Value value_;
  Mark mark_;
};

/// `a map`, `an integer`, … for messages.
std::string_view describe(Node::Kind kind);

/// The entries of a map in the order in which they were first set. Lookup takes constant time.
class NodeMap {
 public:
  struct Entry {
    Node key;
    Node value;
    bool operator==(const Entry&) const = default;
  };
  using const_iterator = std::vector<Entry>::const_iterator;
  using iterator = std::vector<Entry>::iterator;

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  /// The keys must not be changed through these.
  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }

  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  const Node* find(const Node& key) const;
  Node* find(const Node& key);

  /// Sets the value under `key`; a new key goes last, a present one keeps its place.
  Node& set(Node key, Node value);
  Node& set(std::string key, Node value) {
    return set(Node::string(std::move(key)), std::move(value));
  }
  /// False when there was no such key. Takes time linear in the size.
  bool erase(const Node& key);
  bool erase(std::string_view key) { return erase(Node::string(std::string(key))); }

  std::vector<std::string> string_keys() const;
  bool operator==(const NodeMap& other) const { return entries_ == other.entries_; }

 private:
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
  template <typename Matches>
  std::size_t index_of(std::size_t hash, const Matches& matches) const;
  std::size_t index_of(const Node& key) const;
  std::size_t index_of(std::string_view key) const;
  void add_slot(std::size_t hash, std::size_t index);
  void rebuild_slots();

  std::vector<Entry> entries_;
  // Open addressing over entry numbers plus one (0: free); empty while the map is small enough to
  // search from the front.
  std::vector<std::uint32_t> slots_;
};

/// The tree with secrets replaced: the value of a key with a secret name, the argument of an option
/// in a list of words, and whatever the redactor finds in other strings. Keys stay, and so do
/// numbers, booleans and null unless their key has a secret name.
Node redacted(const Node& tree, const Redactor& redactor);

/// Registers the values under secret names with the redactor, so that it also finds them in text.
void know_secrets(const Node& tree, Redactor& redactor);

/// The values of `tree` that differ in `redacted`, under their keys; null if they are equal. A list
/// is one value.
Node redacted_part(const Node& tree, const Node& redacted);

/// Puts the values from redacted_part() back into a redacted tree.
void restore(Node& tree, const Node& part);

}  // namespace profline
