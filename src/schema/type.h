#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "formats/node.h"
#include "schema/field.h"

/// Field lists with their C++ types taken away: what the compiled half of the module works on, so
/// that templates only have to fill in these tables.
namespace profline::schema {

class Checks;
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

/// Its address stands for the type.
template <typename T>
inline constexpr char kTypeTag = 0;
using TypeTag = const char*;

struct StructType;

/// How values of one C++ type are read, written and described; see Codec for what each promises.
struct Type {
  TypeTag tag;
  std::size_t size;  ///< of the value itself, in bytes
  Kinds kinds;
  std::string (*text)(const Limits& limits);
  void (*read)(const Node& node, void* value, Reader& reader);
  Node (*write)(const void* value);
  /// Set for a struct with a field list.
  const StructType& (*structure)() = nullptr;
  /// Set for an optional, a list or a map: the type inside, and the step a path takes to it.
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
  Node (*defaults)();                      ///< all fields of a value that nobody touched
};

/// One name of an enum's value.
struct EnumEntry {
  std::int64_t value;
  std::string_view name;
  bool is_boolean;
};

}  // namespace profline::schema
