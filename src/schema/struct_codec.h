#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "schema/codec.h"
#include "schema/problems.h"

/// The codec of structs that have fields().
namespace profline::schema {

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

/// Fields that are not given keep their defaults.
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
