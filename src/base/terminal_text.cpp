#include "base/terminal_text.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "base/strings.h"

namespace profline {
namespace {

struct Range {
  char32_t first, last;
};

// From Unicode 15: general categories Mn, Me and Cf, limited to those that occur in names and
// paths.
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036F},   {0x0483, 0x0489},   {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0E34, 0x0E3A},   {0x0E47, 0x0E4E},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
    {0x20D0, 0x20FF},   {0x3099, 0x309A},   {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
    {0x1F3FB, 0x1F3FF}, {0xE0100, 0xE01EF},
};

// From Unicode 15's EastAsianWidth.txt: W and F, adjacent ranges merged.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x2614, 0x2615},
    {0x26A1, 0x26A1},   {0x2705, 0x2705},   {0x274C, 0x274C},   {0x2E80, 0x303E},
    {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};

template <std::size_t n>
bool in_any(const Range (&ranges)[n], char32_t c) {
  // The first range that ends at or after `c` is the only one that can contain it.
  const Range* range = std::lower_bound(std::begin(ranges), std::end(ranges), c,
                                        [](const Range& r, char32_t x) { return r.last < x; });
  return range != std::end(ranges) && range->first <= c;
}

struct Character {
  char32_t code;
  std::string_view bytes;
  bool valid;
};

/// The first character of `text`, which is not empty; a single byte where it is not valid UTF-8.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (size == 1) return {lead, text.substr(0, 1), true};
  const std::string_view bytes = text.substr(0, size);
  if (bytes.size() < size || first_invalid_utf8(bytes)) return {lead, text.substr(0, 1), false};
  char32_t code = lead & (0xFFU >> (size + 1));
  for (const char byte : bytes.substr(1)) {
    code = (code << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return {code, bytes, true};
}

/// Line and paragraph separators, and marks that display text in another order.
bool misleads(char32_t c) {
  return (c >= 0x80 && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F || c == 0x2028 ||
         c == 0x2029 || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

std::string escape(const Character& c) {
  if (c.code == '\n') return "\\n";
  if (c.code == '\r') return "\\r";
  if (c.code == '\t') return "\\t";
  if (c.valid && c.code >= 0x80) return fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
  return fmt::format("\\x{:02x}", static_cast<unsigned>(c.code));
}

std::size_t width_of(const Character& c) {
  if (!c.valid || c.code < kZeroWidth[0].first) return 1;
  if (in_any(kZeroWidth, c.code)) return 0;
  return in_any(kWide, c.code) ? 2 : 1;
}

/// The length of the colour code at the start of the text, `\x1b[1;31m`; 0 for any other text.
std::size_t color_code_size(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end < text.size() && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_character(text);
    if (!c.valid || c.code < 0x20 || c.code == 0x7F || misleads(c.code)) {
      out += escape(c);
    } else {
      out += c.bytes;
    }
    text.remove_prefix(c.bytes.size());
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    out += printable(text.substr(0, end)) + '\n';
    text.remove_prefix(end + 1);
  }
  return out + printable(text);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    if (const std::size_t color = color_code_size(text); color > 0) {
      text.remove_prefix(color);
      continue;
    }
    const Character c = first_character(text);
    width += width_of(c);
    text.remove_prefix(c.bytes.size());
  }
  return width;
}

std::string fit_width(std::string_view text, std::size_t width, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  const std::size_t ellipsis_width = display_width(ellipsis);
  if (width < ellipsis_width) return {};
  std::size_t used = 0;
  std::string out;
  while (!text.empty()) {
    const Character c = first_character(text);
    used += width_of(c);
    if (used + ellipsis_width > width) break;
    out += c.bytes;
    text.remove_prefix(c.bytes.size());
  }
  out += ellipsis;
  return out;
}

std::string wrap_words(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = indent;  // the first line starts where the caller put the cursor
  bool line_is_empty = true;
  const auto break_line = [&] {
    out += '\n' + std::string(indent, ' ');
    used = indent;
    line_is_empty = true;
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t columns = display_width(word);
    if (!line_is_empty && !word.empty()) {
      if (used + 1 + columns > width) {
        break_line();
      } else {
        out += ' ';
        ++used;
      }
    }
    out += word;
    used += columns;
    line_is_empty = line_is_empty && word.empty();
    if (end < text.size() && text[end] == '\n') break_line();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string pad_width(std::string_view text, std::size_t width) {
  std::string out(text);
  const std::size_t used = display_width(text);
  if (used < width) out.append(width - used, ' ');
  return out;
}

}  // namespace profline
