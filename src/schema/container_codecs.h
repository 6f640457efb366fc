#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "schema/codec.h"
#include "schema/field.h"
#include "schema/problems.h"

/// Codecs of values that hold other values: optionals, lists, maps, variants, lists of strings.
namespace profline::schema {

namespace internal {

// The compiled half of the codecs below.
std::string list_text(const std::string& item);
std::string map_text(const std::string& value);

std::string text_list_text(char separator);
std::vector<std::string> read_text_list(const Node& node, char separator, Reader& reader);
Node write_text_list(const std::vector<std::string>& items);

}  // namespace internal

/// Null means no value.
template <typename T>
struct Codec<std::optional<T>> {
  static_assert(!Codec<T>::kKinds.has(Node::Kind::Null),
                "this type has a meaning for null already");
  static constexpr Kinds kKinds = Codec<T>::kKinds | Kinds{Node::Kind::Null};
  static constexpr bool kTakesLimits = internal::takes_limits<T>();
  static std::string text(const Limits& limits) { return Codec<T>::text(limits) + " or null"; }
  static void read(const Node& node, std::optional<T>& value, Reader& reader) {
    if (node.is_null()) {
      value.reset();
      return;
    }
    if (!value) value.emplace();
    Codec<T>::read(node, *value, reader);
  }
  static Node write(const std::optional<T>& value) {
    return value ? Codec<T>::write(*value) : Node();
  }
  static const Type& inner() { return type_of<T>(); }
  static constexpr std::string_view kInnerStep{};
};

/// The value read replaces the whole default.
template <typename T>
struct Codec<std::vector<T>> {
  static constexpr Kinds kKinds{Node::Kind::List};
  static constexpr bool kTakesLimits = internal::takes_limits<T>();
  static std::string text(const Limits& limits) {
    return internal::list_text(Codec<T>::text(limits));
  }
  static void read(const Node& node, std::vector<T>& value, Reader& reader) {
    const Node::List& items = node.as_list();
    value.clear();
    value.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      T item{};
      reader.read_item(i, type_of<T>(), items[i], &item);
      value.push_back(std::move(item));
    }
  }
  static Node write(const std::vector<T>& value) {
    Node::List items;
    items.reserve(value.size());
    for (const auto& item : value) items.push_back(Codec<T>::write(item));
    return Node::list(std::move(items));
  }
  static const Type& inner() { return type_of<T>(); }
  static constexpr std::string_view kInnerStep = "<n>";
};

/// The value read replaces the whole default; written in the order of the keys.
template <typename T>
struct Codec<std::map<std::string, T>> {
  static constexpr Kinds kKinds{Node::Kind::Map};
  static constexpr bool kTakesLimits = internal::takes_limits<T>();
  static std::string text(const Limits& limits) {
    return internal::map_text(Codec<T>::text(limits));
  }
  static void read(const Node& node, std::map<std::string, T>& value, Reader& reader) {
    value.clear();
    std::size_t index = 0;
    for (const NodeMap::Entry& entry : node.as_map()) {
      if (reader.key_is_string(entry, index)) {
        T item{};
        reader.read_entry(entry, index, type_of<T>(), &item);
        value.insert_or_assign(entry.key.as_string(), std::move(item));
      }
      ++index;
    }
  }
  static Node write(const std::map<std::string, T>& value) {
    NodeMap entries;
    for (const auto& [key, item] : value) entries.set(key, Codec<T>::write(item));
    return Node::map(std::move(entries));
  }
  static const Type& inner() { return type_of<T>(); }
  static constexpr std::string_view kInnerStep = "<name>";
};

namespace internal {
/// No two alternatives accept the same kind of Node: the node alone decides which one it is.
template <typename... Ts>
constexpr bool kinds_are_disjoint() {
  Kinds taken{};
  bool disjoint = true;
  ((disjoint = disjoint && !taken.overlaps(Codec<Ts>::kKinds), taken = taken | Codec<Ts>::kKinds),
   ...);
  return disjoint;
}
}  // namespace internal

template <typename... Ts>
struct Codec<std::variant<Ts...>> {
  static_assert(internal::kinds_are_disjoint<Ts...>(),
                "the kind of a node must decide which alternative it is");
  static constexpr Kinds kKinds = (Codec<Ts>::kKinds | ...);
  static constexpr bool kTakesLimits = (internal::takes_limits<Ts>() || ...);
  static std::string text(const Limits& limits) {
    std::string text;
    ((text += (text.empty() ? "" : " or ") + Codec<Ts>::text(limits)), ...);
    return text;
  }
  static void read(const Node& node, std::variant<Ts...>& value, Reader& reader) {
    (read_alternative<Ts>(node, value, reader), ...);
  }
  static Node write(const std::variant<Ts...>& value) {
    return std::visit([]<typename T>(const T& held) { return Codec<T>::write(held); }, value);
  }

 private:
  template <typename T>
  static void read_alternative(const Node& node, std::variant<Ts...>& value, Reader& reader) {
    if (!Codec<T>::kKinds.has(node.kind())) return;
    T alternative{};
    Codec<T>::read(node, alternative, reader);
    value = std::move(alternative);
  }
};

template <char separator>
struct Codec<TextList<separator>> {
  static constexpr Kinds kKinds{Node::Kind::String, Node::Kind::List};
  static std::string text(const Limits&) { return internal::text_list_text(separator); }
  static void read(const Node& node, TextList<separator>& value, Reader& reader) {
    value.items = internal::read_text_list(node, separator, reader);
  }
  static Node write(const TextList<separator>& value) {
    return internal::write_text_list(value.items);
  }
};

// The codec of structs that have fields().

namespace internal {

template <typename T>
inline constexpr auto kFields = fields(std::type_identity<T>{});

template <typename T, std::size_t index>
constexpr FieldEntry field_entry() {
  constexpr const auto& kField = field_at<index>(kFields<T>);
  using Line = std::remove_cvref_t<decltype(kField)>;
  if constexpr (std::same_as<Line, RemovedKey>) {
    static_assert(!kField.advice.empty(), "a removed key says what replaced it");
    return {.text = {.name = kField.name, .help = kField.advice}};
  } else {
    using Member = typename Line::MemberType;
    static_assert(!kField.text.help.empty(), "a field comes with its help");
    static_assert(!kField.text.limits.any() || takes_limits<Member>(),
                  "limits are for fields that hold numbers");
    return {.text = kField.text, .type = &type_of<Member>, .member = [](void* object) -> void* {
              return std::addressof(static_cast<T*>(object)->*field_at<index>(kFields<T>).member);
            }};
  }
}

template <typename T>
struct Structure {
  template <std::size_t... indices>
  static constexpr std::array<FieldEntry, sizeof...(indices)> entries(
      std::index_sequence<indices...>) {
    return {field_entry<T, indices>()...};
  }
  static constexpr auto kEntries = entries(std::make_index_sequence<decltype(kFields<T>)::kSize>());
  static_assert(texts_are_distinct(kEntries,
                                   [](const FieldEntry& entry) { return entry.text.name; }),
                "two fields have one name");
};

template <typename T>
constexpr auto validator() -> Checks (*)(const void*) {
  if constexpr (requires(const T& value) { validate(value); }) {
    return [](const void* object) -> Checks { return validate(*static_cast<const T*>(object)); };
  } else {
    return nullptr;
  }
}

template <typename T>
const StructType& struct_of() {
  static constexpr StructType kStruct{
      .fields = Structure<T>::kEntries,
      .validate = validator<T>(),
      .defaults =
          [] {
            const T untouched{};
            return write_all_fields(struct_of<T>(), &untouched);
          },
  };
  return kStruct;
}

}  // namespace internal

/// Fields that are absent keep their defaults.
template <Structured T>
struct Codec<T> {
  static constexpr Kinds kKinds{Node::Kind::Map};
  static std::string text(const Limits&) { return "map"; }
  static void read(const Node& node, T& value, Reader& reader) {
    read_struct(structure(), node, &value, reader);
  }
  static Node write(const T& value) { return write_struct(structure(), &value); }
  static const StructType& structure() { return internal::struct_of<T>(); }
};

}  // namespace profline::schema
