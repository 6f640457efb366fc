#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace profline {

// Characters of ASCII, in every locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}
constexpr char lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

/// With ASCII's capitals as small letters.
std::string lower(std::string_view text);

/// The parts of `text` between separators; as many as there are separators, plus one.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of `text` without their ends (LF or CRLF); a last line that is empty does not count.
std::vector<std::string_view> lines(std::string_view text);

/// Without spaces, tabs, carriage returns and line feeds at either end.
std::string_view trim(std::string_view text);

/// With a capital letter at its beginning, if that is an ASCII letter.
std::string capitalised(std::string text);

std::string join(std::span<const std::string> parts, std::string_view separator);

/// `text` as a number: digits only, and within the type.
template <std::unsigned_integral T>
std::optional<T> whole_number(std::string_view text) {
  T number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

/// Whether all of `name` matches a shell pattern as Python's fnmatch reads it: `*`, `?`, `[a-z]`,
/// `[!a-z]`; there is no escape, and '/' and '.' are like other characters. Takes time proportional
/// to the product of the lengths at worst.
bool matches_pattern(std::string_view name, std::string_view pattern);

/// The same with `*` and `?` alone; brackets stand for themselves.
bool matches_wildcards(std::string_view name, std::string_view pattern);

/// Offset of the first byte that is not part of valid UTF-8 (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF); nothing when all of it is valid.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// The candidates closest to `name` by edit distance (insert, delete, replace, swap of neighbours),
/// best first, at most `at_most`; only those close enough that a typing error explains them.
std::vector<std::string> nearest(std::string_view name, std::span<const std::string> candidates,
                                 std::size_t at_most = 1);

/// ` (did you mean 'timeout'?)`, or nothing when no candidate is close.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// The bytes that base64 `text` stands for. Characters outside the alphabet are passed over and
/// text behind the padding is ignored (PyYAML reads !!binary so); nothing when the last group is
/// incomplete, or when a character is not ASCII.
std::optional<std::string> decode_base64(std::string_view text);

/// Base64 with its padding, in one line.
std::string encode_base64(std::string_view bytes);

/// Base64 in lines of 76 characters, each with its line feed; nothing for no bytes.
std::string encode_base64_lines(std::string_view bytes);

}  // namespace profline
