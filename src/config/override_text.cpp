#include "config/internal/override_text.h"

#include <algorithm>

namespace profline::config {
namespace {

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

std::string unescaped(std::string_view escapes) {
  std::string out;
  for (std::size_t i = 1; i < escapes.size(); i += 2) out += escapes[i];
  return out;
}

std::string unquoted(std::string_view quoted) {
  const char quote = quoted.front();
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  std::string out;
  std::size_t i = 0;
  while (i < inside.size()) {
    const std::size_t end = std::min(inside.find_first_not_of('\\', i), inside.size());
    const std::size_t backslashes = end - i;
    const bool before_quote = end == inside.size() || inside[end] == quote;
    out.append(before_quote ? backslashes / 2 : backslashes, '\\');
    if (end < inside.size()) out += inside[end];
    i = end + 1;
  }
  return out;
}

std::string shown_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  std::size_t length = 1;
  while (length < text.size() && continues_character(text[length])) ++length;
  if (first >= 0x20U && first != 0x7FU) return "'" + std::string(text.substr(0, length)) + "'";
  if (first == '\n') return "a line feed";
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("the control character 0x") + kDigits[first >> 4U] + kDigits[first & 0xFU];
}

std::string shown_text(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::size_t end = std::min(text.size(), kLongest);
  while (end > 0 && end < text.size() && continues_character(text[end])) --end;
  const std::string shown = std::string(text.substr(0, end)) + (end < text.size() ? "…" : "");
  const bool has_quotes = text.starts_with('\'') || text.starts_with('"');
  return has_quotes ? shown : "'" + shown + "'";
}

std::uint32_t Columns::of(std::size_t offset) {
  if (offset < offset_) {
    offset_ = 0;
    column_ = 1;
  }
  for (; offset_ < offset; ++offset_) {
    const bool last = offset_ + 1 == text_.size();
    if (last || !continues_character(text_[offset_ + 1])) ++column_;
  }
  return column_;
}

}  // namespace profline::config
