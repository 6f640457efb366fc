#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.h"

namespace profline {

/// A value or the Error that prevented it; member names are those of C++23's std::expected.
template <typename T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T>, "borrow with a pointer");

 public:
  using value_type = T;

  template <typename U = T>
  requires(std::is_constructible_v<T, U&&> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
           !std::is_same_v<std::remove_cvref_t<U>, Error>)
      // Implicit, so that `return value;` works; the constraint leaves copies and moves alone.
      // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
      Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error)  // NOLINT(google-explicit-constructor): `return Error(...)` is the point
      : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    require_value();
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    require_value();
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    require_value();
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& {
    require_error();
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    require_error();
    return std::move(*std::get_if<1>(&state_));
  }

  T value_or(T fallback) && { return has_value() ? std::move(*this).value() : std::move(fallback); }

  /// The same Result; its Error, if any, also names what was being done.
  Result during(std::string activity) && {
    if (has_value()) return std::move(*this);
    return std::move(*this).error().during(std::move(activity));
  }

 private:
  void require_value() const { PL_ASSERT(has_value(), "value() of a Result that holds an Error"); }
  void require_error() const { PL_ASSERT(!has_value(), "error() of a Result that holds a value"); }

  std::variant<T, Error> state_;
};

/// Success, or the Error that prevented it.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error)  // NOLINT(google-explicit-constructor): `return Error(...)` is the point
      : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const { PL_ASSERT(has_value(), "value() of a Result that holds an Error"); }

  const Error& error() const& {
    PL_ASSERT(!has_value(), "error() of a Result that holds no Error");
    return *error_;
  }
  Error&& error() && {
    PL_ASSERT(!has_value(), "error() of a Result that holds no Error");
    return std::move(*error_);
  }

  Result during(std::string activity) && {
    if (has_value()) return {};
    return std::move(*this).error().during(std::move(activity));
  }

 private:
  std::optional<Error> error_;
};

}  // namespace profline

/// The value of a Result, or return its Error from the function:
///   const std::string text = PL_TRY(read_file(path));
///   PL_TRY(write_file_atomic(path, text));
/// A GNU statement expression (GCC and clang), so that it works inside an expression, also inside
/// another PL_TRY.
#define PL_TRY(expression) PL_TRY_AS(expression, PL_TRY_NAME(pl_try_, __COUNTER__))
#define PL_TRY_NAME(prefix, number) PL_TRY_NAME_PASTED(prefix, number)
#define PL_TRY_NAME_PASTED(prefix, number) prefix##number
// NOLINTBEGIN(bugprone-macro-parentheses): `result` is a name, not an expression
#define PL_TRY_AS(expression, result)              \
  __extension__({                                  \
    auto result = (expression);                    \
    if (!result) return std::move(result).error(); \
    std::move(result).value();                     \
  })
// NOLINTEND(bugprone-macro-parentheses)
