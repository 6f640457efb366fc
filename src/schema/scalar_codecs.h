#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "schema/codec.h"

/// Codecs of booleans, numbers, strings, paths, durations and free nodes.
namespace profline::schema {

namespace internal {

// The compiled half of the codecs below.
std::string integer_text(std::int64_t lowest, std::uint64_t highest, const Limits& limits);
std::optional<std::int64_t> read_signed(const Node& node, std::int64_t lowest, std::int64_t highest,
                                        Reader& reader);
std::optional<std::uint64_t> read_unsigned(const Node& node, std::uint64_t highest, Reader& reader);
Node write_unsigned(std::uint64_t value);

std::string number_text(std::string_view noun, const Limits& limits);
std::optional<double> read_real(const Node& node, Reader& reader);

/// A clock tick is `numerator / denominator` seconds.
struct Tick {
  std::int64_t numerator;
  std::int64_t denominator;
};
std::string seconds_text(Tick tick, bool whole_ticks, const Limits& limits);
std::optional<std::int64_t> read_ticks(const Node& node, Tick tick, Reader& reader);
Node write_ticks(std::int64_t ticks, Tick tick);
template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                  !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                  !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

}  // namespace internal

template <>
struct Codec<bool> {
  static constexpr Kinds kKinds{Node::Kind::Bool};
  static std::string text(const Limits&) { return "boolean"; }
  static void read(const Node& node, bool& value, Reader&) { value = node.as_bool(); }
  static Node write(bool value) { return Node::boolean(value); }
};

/// Does not accept floats, not even 1.0, nor values outside the range of the type.
template <internal::Integer T>
struct Codec<T> {
  static constexpr Kinds kKinds{Node::Kind::Int, Node::Kind::BigInt};
  static constexpr bool kTakesLimits = true;
  static std::string text(const Limits& limits) {
    return internal::integer_text(std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                                  limits);
  }
  static void read(const Node& node, T& value, Reader& reader) {
    if constexpr (std::unsigned_integral<T>) {
      const auto number = internal::read_unsigned(node, std::numeric_limits<T>::max(), reader);
      if (number) value = static_cast<T>(*number);
    } else {
      const auto number = internal::read_signed(node, std::numeric_limits<T>::min(),
                                                std::numeric_limits<T>::max(), reader);
      if (number) value = static_cast<T>(*number);
    }
  }
  static Node write(T value) {
    if constexpr (std::unsigned_integral<T>) {
      return internal::write_unsigned(value);
    } else {
      return Node::integer(value);
    }
  }
};

/// Accepts integers too, but not NaN.
template <>
struct Codec<double> {
  static constexpr Kinds kKinds{Node::Kind::Int, Node::Kind::BigInt, Node::Kind::Float};
  static constexpr bool kTakesLimits = true;
  static std::string text(const Limits& limits) { return internal::number_text("number", limits); }
  static void read(const Node& node, double& value, Reader& reader) {
    if (const auto number = internal::read_real(node, reader)) value = *number;
  }
  static Node write(double value) { return Node::real(value); }
};

template <>
struct Codec<std::string> {
  static constexpr Kinds kKinds{Node::Kind::String};
  static std::string text(const Limits&) { return "string"; }
  static void read(const Node& node, std::string& value, Reader&) { value = node.as_string(); }
  static Node write(const std::string& value) { return Node::string(value); }
};

template <>
struct Codec<std::filesystem::path> {
  static constexpr Kinds kKinds{Node::Kind::String};
  static std::string text(const Limits&) { return "path"; }
  static void read(const Node& node, std::filesystem::path& value, Reader&) {
    value = node.as_string();
  }
  static Node write(const std::filesystem::path& value) { return Node::string(value.string()); }
};

/// A number of seconds, whatever the tick: `0.25` is 250 milliseconds. If ticks are integers,
/// values between two ticks are refused. Limits are in seconds as well.
template <typename Rep, typename Period>
struct Codec<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  static_assert(std::floating_point<Rep> || sizeof(Rep) == sizeof(std::int64_t),
                "ticks are counted in 64 bits or in floats");
  static constexpr internal::Tick kTick{Period::num, Period::den};
  static constexpr Kinds kKinds{Node::Kind::Int, Node::Kind::BigInt, Node::Kind::Float};
  static constexpr bool kTakesLimits = true;
  static std::string text(const Limits& limits) {
    return internal::seconds_text(kTick, std::integral<Rep>, limits);
  }
  static void read(const Node& node, Duration& value, Reader& reader) {
    if constexpr (std::integral<Rep>) {
      if (const auto ticks = internal::read_ticks(node, kTick, reader)) value = Duration(*ticks);
    } else {
      if (const auto seconds = internal::read_real(node, reader)) {
        value = std::chrono::duration<double>(*seconds);
      }
    }
  }
  static Node write(const Duration& value) {
    if constexpr (std::integral<Rep>) {
      return internal::write_ticks(value.count(), kTick);
    } else {
      return Node::real(std::chrono::duration<double>(value).count());
    }
  }
};

/// Any subtree, unchanged.
template <>
struct Codec<Node> {
  static constexpr Kinds kKinds = Kinds::all();
  static std::string text(const Limits&) { return "anything"; }
  static void read(const Node& node, Node& value, Reader&) { value = node; }
  static Node write(const Node& value) { return value; }
};

// The codec of enums that have names().

namespace internal {

// The compiled half of the codec below.
std::string enum_text(std::span<const EnumEntry> names);
std::optional<std::int64_t> read_enum(const Node& node, std::span<const EnumEntry> names,
                                      Reader& reader);
Node write_enum(std::int64_t value, std::span<const EnumEntry> names);
/// The first name of `value`.
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

/// The name of an enumerator in the config: the first of its names.
template <NamedEnum E>
std::string_view name_of(E value) {
  return internal::enum_entry(static_cast<std::int64_t>(value), internal::Enumeration<E>::kEntries)
      .name;
}

}  // namespace profline::schema
