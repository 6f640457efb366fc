#pragma once

#include <string>
#include <string_view>

#include "schema/reader.h"
#include "schema/type.h"

/// How each kind of value is read from a Node, written to one and described.
///
/// A type of ours joins in by a specialisation beside its definition:
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
/// One that honours reader.limits() says so with `static constexpr bool kTakesLimits = true`.
namespace profline::schema {

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
