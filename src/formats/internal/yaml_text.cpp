#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "formats/internal/yaml_compose.h"

namespace profline {
namespace {

/// Whether the character at the front of valid UTF-8 is outside what YAML 1.1 allows: C0 and C1
/// controls other than tab, LF, CR and U+0085; U+007F, U+FFFE and U+FFFF.
bool begins_with_forbidden(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x20) return first != '\t' && first != '\n' && first != '\r';
  if (first < 0x7F) return false;
  if (first == 0x7F) return true;
  if (first == 0xC2) return byte(1) < 0xA0 && byte(1) != 0x85;
  return first == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
}

/// A byte order mark at the start of any line but the first: libyaml would skip it, and PyYAML read
/// it as text.
std::optional<std::size_t> stray_byte_order_mark(std::string_view text) {
  std::size_t at = text.find(kByteOrderMark);
  for (; at != std::string_view::npos; at = text.find(kByteOrderMark, at + 1)) {
    const std::string_view before = text.substr(0, at);
    const bool after_break = before.empty() || before.ends_with('\n') || before.ends_with('\r') ||
                             before.ends_with("\xC2\x85") || before.ends_with("\xE2\x80\xA8") ||
                             before.ends_with("\xE2\x80\xA9");
    if (after_break) return at;
  }
  return std::nullopt;
}

std::optional<std::size_t> first_forbidden(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte < 0x7F) continue;
    if (begins_with_forbidden(text.substr(i, 3))) return i;
  }
  return std::nullopt;
}

/// The escape that stands for a forbidden character in double quotes.
std::string escape_of_forbidden(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return fmt::format("\\x{:02X}", byte(0));
  if (byte(0) == 0xC2) return fmt::format("\\x{:02X}", byte(1));
  return fmt::format("\\u{:04X}", 0xFF00U | (byte(2) | 0xC0U));
}

}  // namespace

std::size_t line_break_length(std::string_view text) {
  if (text.starts_with("\r\n")) return 2;
  if (text.starts_with('\n') || text.starts_with('\r')) return 1;
  if (text.starts_with("\xC2\x85")) return 2;
  return text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9") ? 3 : 0;
}

YamlText::YamlText(std::string_view text, std::string source)
    : text_(text), source_(std::make_shared<const std::string>(std::move(source))) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
}

Result<void> YamlText::check_characters() const {
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF")) {
    return Error(ErrorKind::Parse, "the text is UTF-16: save it as UTF-8",
                 mark(TextPlace()).position());
  }
  const std::optional<std::size_t> invalid = first_invalid_utf8(text_);
  const std::optional<std::size_t> forbidden =
      first_forbidden(text_.substr(0, invalid.value_or(text_.size())));
  if (forbidden) {
    return error_at(fmt::format("this character is not allowed in YAML: write \"{}\" in quotes",
                                escape_of_forbidden(text_.substr(*forbidden, 3))),
                    *forbidden);
  }
  if (invalid) {
    // The excerpt ends before the bad byte, so that the message itself is valid text.
    YamlText before(*this);
    before.text_ = text_.substr(0, *invalid);
    return before.error_at(fmt::format("byte 0x{:02X} is not valid UTF-8",
                                       static_cast<unsigned char>(text_[*invalid])),
                           *invalid);
  }
  if (const auto stray = stray_byte_order_mark(text_)) {
    return error_at("a byte order mark is allowed only at the very beginning", *stray);
  }
  return {};
}

Error YamlText::error(std::string message, TextPlace place) const {
  // libyaml ends every input with a line of its own.
  const TextPlace end = place_of(text_.size());
  if (place.line > end.line) place = end;
  std::string_view shown = line(place.line);
  // Passes on only what an excerpt can show: a line may be as long as the input.
  constexpr std::uint32_t kKept = 200;
  std::uint32_t column = place.column;
  if (column > kKept) {
    std::uint32_t passed = 0;
    std::size_t start = 0;
    while (start < shown.size() && (passed < column - kKept || !begins_character(shown[start]))) {
      if (begins_character(shown[start])) ++passed;
      ++start;
    }
    shown.remove_prefix(start);
    column -= passed;
  }
  return Error(ErrorKind::Parse, std::move(message), mark(place).position())
      .with_excerpt(shown.substr(0, std::size_t{kKept} * 8), column);
}

Error YamlText::error_at(std::string message, std::size_t offset) const {
  return error(std::move(message), place_of(offset));
}

TextPlace YamlText::place_of(std::size_t offset) const {
  TextPlace place;
  for (std::size_t at = 0; at < offset;) {
    const std::size_t break_length = line_break_length(text_.substr(at, 3));
    if (break_length > 0) {
      ++place.line;
      place.column = 1;
      at += break_length;
      continue;
    }
    if (begins_character(text_[at])) ++place.column;
    ++at;
  }
  return place;
}

std::string_view YamlText::line(std::uint32_t number) const {
  std::size_t start = 0;
  std::size_t at = 0;
  for (std::uint32_t current = 1; at < text_.size();) {
    const std::size_t break_length = line_break_length(text_.substr(at, 3));
    if (break_length == 0) {
      ++at;
      continue;
    }
    if (current == number) break;
    at += break_length;
    start = at;
    ++current;
  }
  return text_.substr(start, at - start);
}

}  // namespace profline
