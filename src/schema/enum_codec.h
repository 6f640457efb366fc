#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "schema/codec.h"

/// The codec of enums that have names().
namespace profline::schema {

namespace internal {

// The compiled half of the codec below.
std::string enum_text(std::span<const EnumEntry> names);
std::optional<std::int64_t> read_enum(const Node& node, std::span<const EnumEntry> names,
                                      Reader& reader);
Node write_enum(std::int64_t value, std::span<const EnumEntry> names);
/// The first that names `value`.
const EnumEntry& enum_entry(std::int64_t value, std::span<const EnumEntry> names);

template <NamedEnum E>
constexpr auto enum_entries() {
  constexpr auto kNames = names(std::type_identity<E>{});
  std::array<EnumEntry, kNames.size()> entries{};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto& name = kNames[i].name;
    const bool is_boolean = std::holds_alternative<bool>(name);
    entries[i] = {
        .value = static_cast<std::int64_t>(kNames[i].value),
        .name = is_boolean ? (std::get<bool>(name) ? "true" : "false")
                           : std::get<std::string_view>(name),
        .is_boolean = is_boolean,
    };
  }
  return entries;
}

template <NamedEnum E>
struct Enumeration {
  static constexpr auto kEntries = enum_entries<E>();
  static_assert(texts_are_distinct(kEntries, [](const EnumEntry& entry) { return entry.name; }),
                "two values of an enum have one name");
  static constexpr bool has_booleans() {
    for (const EnumEntry& entry : kEntries) {
      if (entry.is_boolean) return true;
    }
    return false;
  }
};

}  // namespace internal

template <NamedEnum E>
struct Codec<E> {
  static constexpr Kinds kKinds = internal::Enumeration<E>::has_booleans()
                                      ? Kinds{Node::Kind::String, Node::Kind::Bool}
                                      : Kinds{Node::Kind::String};
  static std::string text(const Limits&) {
    return internal::enum_text(internal::Enumeration<E>::kEntries);
  }
  static void read(const Node& node, E& value, Reader& reader) {
    const auto number = internal::read_enum(node, internal::Enumeration<E>::kEntries, reader);
    if (number) value = static_cast<E>(*number);
  }
  static Node write(E value) {
    return internal::write_enum(static_cast<std::int64_t>(value),
                                internal::Enumeration<E>::kEntries);
  }
};

/// What an enum's value is called in config: the first of its names.
template <NamedEnum E>
std::string_view name_of(E value) {
  return internal::enum_entry(static_cast<std::int64_t>(value), internal::Enumeration<E>::kEntries)
      .name;
}

}  // namespace profline::schema
