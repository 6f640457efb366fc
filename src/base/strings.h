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

// ASCII only, in every locale.
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

/// With ASCII capitals in lower case.
std::string lower(std::string_view text);

/// The parts of `text` between separators: one more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of `text` without their ends (LF or CRLF); an empty last line does not count.
std::vector<std::string_view> lines(std::string_view text);

/// Without spaces, tabs, carriage returns and line feeds at either end.
std::string_view trim(std::string_view text);

/// With its first character in upper case, if that is an ASCII letter.
std::string capitalised(std::string text);

std::string join(std::span<const std::string> parts, std::string_view separator);

/// `text` as a number; nothing unless it is all digits and in the range of T.
template <std::unsigned_integral T>
std::optional<T> whole_number(std::string_view text) {
  T number = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

/// Whether all of `name` matches a shell pattern as Python's fnmatch defines it: `*`, `?`, `[a-z]`,
/// `[!a-z]`; there is no escape, and '/' and '.' are ordinary characters. The worst-case time is
/// the product of the lengths.
bool matches_pattern(std::string_view name, std::string_view pattern);

/// The same with `*` and `?` alone; brackets stand for themselves.
bool matches_wildcards(std::string_view name, std::string_view pattern);

/// Some editors write it at the start of a text file in UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Offset of the first byte that is not part of valid UTF-8 (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF); nothing when all of it is valid.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// The candidates closest to `name` by edit distance (insert, delete, replace, swap of neighbours),
/// best first, at most `at_most`; only those that a typing error explains.
std::vector<std::string> nearest(std::string_view name, std::span<const std::string> candidates,
                                 std::size_t at_most = 1);

/// ` (did you mean 'timeout'?)`, or nothing when no candidate is close.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// The bytes that base64 `text` encodes. Like PyYAML for !!binary, skips characters outside the
/// alphabet and ignores text after the padding; nothing when the last group is incomplete or a
/// character is not ASCII.
std::optional<std::string> decode_base64(std::string_view text);

/// Base64 with padding, on one line.
std::string encode_base64(std::string_view bytes);

/// Base64 in lines of 76 characters, each ending in a line feed; empty for no bytes.
std::string encode_base64_lines(std::string_view bytes);

}  // namespace profline
