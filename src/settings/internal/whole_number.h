#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace profline::settings::internal {

/// `text` as a number: digits only, and within the type.
template <std::unsigned_integral T>
std::optional<T> whole_number(std::string_view text) {
  T number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

}  // namespace profline::settings::internal
