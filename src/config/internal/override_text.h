#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profline::config {

/// The text that a run of escapes stands for: every second character, the backslashes go.
std::string unescaped(std::string_view escapes);

/// The content of a quoted text, which has its quotes: of backslashes before a quote every second
/// one goes, others stay.
std::string unquoted(std::string_view quoted);

/// The first character of a text that has one, for messages: `'#'`, or the code of what cannot be
/// shown.
std::string shown_character(std::string_view text);

/// `text` in quotes unless it has some, for messages; cut when it is long.
std::string shown_text(std::string_view text);

/// Columns of byte offsets, from 1, counted in characters. Asking from left to right takes linear
/// time.
class Columns {
 public:
  explicit Columns(std::string_view text) : text_(text) {}
  std::uint32_t of(std::size_t offset);

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  std::uint32_t column_ = 1;
};

}  // namespace profline::config
