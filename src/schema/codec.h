#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/node.h"
#include "schema/field.h"
#include "schema/problems.h"

/// How each kind of value is read from a Node, written to one and described.
///
/// Support for a type of our own is a specialisation next to its definition:
///
///   template <>
///   struct Codec<Bytes> {
///     static constexpr Kinds kKinds{Node::Kind::String};  // which nodes reach read()
///     static std::string text(const Limits&) { return "size such as 80 GiB"; }  // no article
///     static void read(const Node& node, Bytes& value, Reader& reader) {
///       if (auto bytes = parse_bytes(node.as_string())) value = *bytes;
///       else reader.mismatch(node);
///     }
///     static Node write(const Bytes& value);  // reads back as the same value
///   };
///
/// A codec that honours reader.limits() declares `static constexpr bool kTakesLimits = true`.
namespace profline::schema {

// Field lists with their C++ types erased: what the compiled half of the module works on, so that
// templates only have to fill in these tables.

class Reader;

/// A set of Node kinds.
class Kinds {
 public:
  constexpr Kinds(std::initializer_list<Node::Kind> kinds) {
    for (const Node::Kind kind : kinds) bits_ |= bit(kind);
  }
  static constexpr Kinds all() { return Kinds(~0U); }

  constexpr bool has(Node::Kind kind) const { return (bits_ & bit(kind)) != 0; }
  constexpr bool overlaps(Kinds other) const { return (bits_ & other.bits_) != 0; }
  constexpr Kinds operator|(Kinds other) const { return Kinds(bits_ | other.bits_); }

 private:
  explicit constexpr Kinds(unsigned bits) : bits_(bits) {}
  static constexpr unsigned bit(Node::Kind kind) { return 1U << static_cast<unsigned>(kind); }

  unsigned bits_ = 0;
};

struct StructType;

/// How values of one C++ type are read, written and described; see Codec for each contract.
struct Type {
  TypeTag tag;
  std::size_t size;  ///< of the value itself, in bytes
  Kinds kinds;
  std::string (*text)(const Limits& limits);
  void (*read)(const Node& node, void* value, Reader& reader);
  Node (*write)(const void* value);
  /// Set for a struct with a field list.
  const StructType& (*structure)() = nullptr;
  /// Set for an optional, a list or a map: the type inside, and the path step that leads to it.
  const Type& (*inner)() = nullptr;
  std::string_view inner_step = {};
};

/// One line of a field list.
struct FieldEntry {
  FieldText text;
  const Type& (*type)() = nullptr;  ///< null: the key was removed, and the help says what to do
  void* (*member)(void* object) = nullptr;

  bool is_removed() const { return type == nullptr; }
  const void* in(const void* object) const {
    return member(const_cast<void*>(object));  // only the address is computed
  }
};

struct StructType {
  std::span<const FieldEntry> fields;
  Checks (*validate)(const void* object);  ///< null: there are no rules over several fields
  Node (*defaults)();                      ///< all fields of a default-constructed value
};

/// One name of an enumerator.
struct EnumEntry {
  std::int64_t value;
  std::string_view name;
  bool is_boolean;
};

/// One pass over a tree: tracks the path and collects the problems. Codecs report to it.
class Reader {
 public:
  /// `path` is where the root is in a larger tree (`pipeline.nsys`), for messages; may be empty.
  explicit Reader(std::string_view path) : root_path_(path) {}

  /// Reads `node` into a `value` of the given type; a node of a kind that the type does not accept
  /// is a problem and leaves the value unchanged.
  void read(const Type& type, const Limits& limits, const Node& node, void* value);

  /// The same for an item of the list, or an entry of the map, that is being read.
  void read_item(std::size_t index, const Type& type, const Node& node, void* value);
  void read_entry(const NodeMap::Entry& entry, std::size_t index, const Type& type, void* value);
  /// Anything but a string as the key of an entry is a problem.
  bool key_is_string(const NodeMap::Entry& entry, std::size_t index);

  /// `must be <what is being read>, not <node>`, and the hint.
  void mismatch(const Node& node, std::string_view hint = {});
  /// `must be <expected>, not <node>`: for a reason that the type's text does not express.
  void mismatch_of(const Node& node, std::string_view expected);
  /// A problem in the codec's own words, which begin with a verb: `names no metric`.
  void problem(const Node& node, std::string_view message);

  /// The limits of the field that is being read.
  const Limits& limits() const { return *limits_; }

  /// Hands over the problems, in the order of the tree.
  void finish(Problems& problems) &&;

 private:
  friend class StructReader;

  struct Step {
    std::string_view key;
    std::size_t index;  ///< of the entry or item
    bool is_item;
  };
  using Place = std::vector<std::size_t>;
  struct Finding {
    Error error;
    Place place;
    bool is_warning;
  };

  std::string path() const;
  Place place() const;
  void add_of_key(const NodeMap::Entry& entry, std::size_t index, std::string_view message,
                  bool is_warning = false);
  void add(const Position& position, std::string_view message, Place place,
           bool is_warning = false);

  std::string root_path_;
  std::vector<Step> steps_;
  std::vector<Finding> findings_;
  std::size_t error_count_ = 0;
  const Type* type_ = nullptr;
  const Limits* limits_ = nullptr;
};

/// The Codec of a struct, with its type erased.
void read_struct(const StructType& structure, const Node& node, void* object, Reader& reader);
/// Omits deprecated fields that have their default: otherwise reading the result would warn about
/// keys that nobody set.
Node write_struct(const StructType& structure, const void* object);
Node write_all_fields(const StructType& structure, const void* object);

/// `an integer >= 1`, `one of a, b`.
std::string with_article(const std::string& type_text);

namespace internal {
template <typename T>
inline constexpr bool kAlwaysFalse = false;
}  // namespace internal

template <typename T>
struct Codec {
  static_assert(internal::kAlwaysFalse<T>,
                "this type has no fields(), no names() and no Codec of its own");
};

template <typename T>
const Type& type_of() {
  static constexpr Type kType = [] {
    Type type{
        .tag = &kTypeTag<T>,
        .size = sizeof(T),
        .kinds = Codec<T>::kKinds,
        .text = &Codec<T>::text,
        .read = [](const Node& node, void* value,
                   Reader& reader) { Codec<T>::read(node, *static_cast<T*>(value), reader); },
        .write = [](const void* value) { return Codec<T>::write(*static_cast<const T*>(value)); },
    };
    if constexpr (requires { Codec<T>::structure(); }) type.structure = &Codec<T>::structure;
    if constexpr (requires { Codec<T>::inner(); }) {
      type.inner = &Codec<T>::inner;
      type.inner_step = Codec<T>::kInnerStep;
    }
    return type;
  }();
  return kType;
}

namespace internal {

template <typename T>
constexpr bool takes_limits() {
  if constexpr (requires { Codec<T>::kTakesLimits; }) {
    return Codec<T>::kTakesLimits;
  } else {
    return false;
  }
}

constexpr bool texts_are_distinct(const auto& entries, auto text) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (text(entries[i]) == text(entries[j])) return false;
    }
  }
  return true;
}

}  // namespace internal

}  // namespace profline::schema
