#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// How a struct declares the names and meanings of its fields. This is all that a header with
/// options needs; reading, writing, help and diffs (read.h, docs.h, diff.h) walk the list.
///
///   struct Options {
///     CaptureRange capture_range = CaptureRange::None;
///     std::optional<std::chrono::seconds> timeout;
///   };
///
///   constexpr auto fields(std::type_identity<Options>) {
///     return field_list(
///         field("capture_range", &Options::capture_range, "what opens the capture"),
///         field("timeout", &Options::timeout, "end the tool after this long").at_least(1));
///   }
///
/// The defaults, which a field has before anything is read and which the documentation shows, are
/// those of `Options{}`. A struct may inherit fields: `+` joins two lists.
namespace profline::schema {

/// A bound as it was written: 1 stays an integer, so that it is compared exactly and printed as 1.
using Number = std::variant<std::int64_t, double>;

template <typename T>
concept Arithmetic = (std::integral<T> ||
                      std::floating_point<T>)&&!std::same_as<std::remove_cv_t<T>, bool>;

/// Which numbers a field accepts; applies to each item of a list and each value of a map.
struct Limits {
  std::optional<Number> at_least;
  std::optional<Number> above;
  std::optional<Number> at_most;

  constexpr bool any() const { return at_least || above || at_most; }
};

/// Everything a field declares besides its member.
struct FieldText {
  std::string_view name;
  std::string_view help;
  std::string_view unit = {};        ///< of a bare number, for the documentation
  std::string_view deprecated = {};  ///< what to do instead; empty: not deprecated
  bool required = false;
  Limits limits = {};
};

template <typename Owner, typename Member>
struct Field {
  using MemberType = Member;

  FieldText text;
  Member Owner::*member;

  /// A missing key is an error; the member's initial value is only a placeholder.
  constexpr Field required() const {
    Field changed = *this;
    changed.text.required = true;
    return changed;
  }
  /// The value is in this unit: `px`, `GB/s`. For numbers whose type does not imply one.
  constexpr Field unit(std::string_view name) const {
    Field changed = *this;
    changed.text.unit = name;
    return changed;
  }
  /// The key still works, with a warning that ends in `advice`: `use 'enable'`.
  constexpr Field deprecated(std::string_view advice) const {
    Field changed = *this;
    changed.text.deprecated = advice;
    return changed;
  }
  constexpr Field at_least(Arithmetic auto bound) const {
    Field changed = *this;
    changed.text.limits.at_least = number(bound);
    return changed;
  }
  constexpr Field above(Arithmetic auto bound) const {
    Field changed = *this;
    changed.text.limits.above = number(bound);
    return changed;
  }
  constexpr Field at_most(Arithmetic auto bound) const {
    Field changed = *this;
    changed.text.limits.at_most = number(bound);
    return changed;
  }
  /// From `low` to `high`, both included.
  constexpr Field range(Arithmetic auto low, Arithmetic auto high) const {
    return at_least(low).at_most(high);
  }

 private:
  template <typename T>
  static constexpr Number number(T bound) {
    if constexpr (std::integral<T>) {
      return static_cast<std::int64_t>(bound);
    } else {
      return static_cast<double>(bound);
    }
  }
};

/// One line of a field list. The help is a phrase without a full stop.
template <typename Owner, typename Member>
constexpr Field<Owner, Member> field(std::string_view name, Member Owner::*member,
                                     std::string_view help) {
  return {.text = {.name = name, .help = help}, .member = member};
}

/// A key that no longer exists. Setting it is an error that ends in `advice`.
struct RemovedKey {
  std::string_view name;
  std::string_view advice;
};
constexpr RemovedKey removed(std::string_view name, std::string_view advice) {
  return {name, advice};
}

/// The lines of one field list. Not a std::tuple, because every file that includes a struct
/// compiles its list, and a tuple of forty types takes much longer to compile.
template <std::size_t index, typename Line>
struct FieldSlot {
  Line line;
};
template <typename Indices, typename... Lines>
struct FieldSlots;
template <std::size_t... indices, typename... Lines>
struct FieldSlots<std::index_sequence<indices...>, Lines...> : FieldSlot<indices, Lines>... {
  static constexpr std::size_t kSize = sizeof...(Lines);
};
template <typename... Lines>
using FieldList = FieldSlots<std::index_sequence_for<Lines...>, Lines...>;

template <typename... Lines>
constexpr FieldList<Lines...> field_list(Lines... lines) {
  return {{lines}...};
}

/// The line at `index` of a list.
template <std::size_t index, typename Line>
constexpr const Line& field_at(const FieldSlot<index, Line>& slot) {
  return slot.line;
}

/// The lines of both lists, in order.
template <std::size_t... first, typename... FirstLines, std::size_t... second,
          typename... SecondLines>
constexpr FieldList<FirstLines..., SecondLines...> operator+(
    const FieldSlots<std::index_sequence<first...>, FirstLines...>& one,
    const FieldSlots<std::index_sequence<second...>, SecondLines...>& other) {
  return {{field_at<first>(one)}..., {field_at<second>(other)}...};
}

/// The name of an enumerator: a string or, for switches with more than two states, a boolean. If an
/// enumerator has several names, all are read and the first is written.
template <typename Enum>
struct EnumName {
  Enum value;
  std::variant<std::string_view, bool> name;
};

/// One line of an enum's list of names:
///
///   constexpr auto names(std::type_identity<Enable>) {
///     return std::array{named(Enable::Yes, true), named(Enable::No, false),
///                       named(Enable::Auto, "auto")};
///   }
template <typename Enum>
requires std::is_enum_v<Enum>
constexpr EnumName<Enum> named(Enum value, std::string_view name) {
  return {value, name};
}
template <typename Enum>
requires std::is_enum_v<Enum>
constexpr EnumName<Enum> named(Enum value, std::same_as<bool> auto name) {
  return {value, name};
}

template <typename T>
concept Structured = requires {
  fields(std::type_identity<T>{});
};

template <typename T>
concept NamedEnum = std::is_enum_v<T> && requires {
  names(std::type_identity<T>{});
};

/// Strings given as a list or as one string: `[a, b]`, or `a,b` if the separator is a comma.
/// Without a separator (0) a string is a list of one. Blanks around the items of a string are
/// ignored, and a blank string has no items. Written as a list.
template <char separator>
struct TextList {
  std::vector<std::string> items;

  bool operator==(const TextList&) const = default;
};

using OneOrMore = TextList<'\0'>;
using CommaList = TextList<','>;
using SemicolonList = TextList<';'>;

}  // namespace profline::schema

namespace profline {
// Field lists use these names, so every module sees them unqualified.
using schema::field;
using schema::field_list;
using schema::named;
using schema::removed;
}  // namespace profline
