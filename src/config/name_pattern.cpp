#include "config/internal/name_pattern.h"

#include <optional>
#include <string>

namespace profline::config {
namespace {

/// UTF-8 to code points; a byte that belongs to no character stands for itself.
std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    int more = 0;
    char32_t point = first;
    if (first >= 0xF0U) {
      more = 3;
      point = first & 0x07U;
    } else if (first >= 0xE0U) {
      more = 2;
      point = first & 0x0FU;
    } else if (first >= 0xC0U) {
      more = 1;
      point = first & 0x1FU;
    }
    for (; more > 0 && i < text.size(); --more, ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      if ((next & 0xC0U) != 0x80U) break;
      point = (point << 6U) | (next & 0x3FU);
    }
    out += point;
  }
  return out;
}

/// `[…]` at the front of a pattern.
struct Set {
  std::u32string_view content;  // without the brackets and '!'
  bool negated = false;
  std::size_t length = 0;  // with them
};

/// Nothing when the bracket is never closed, and so an ordinary character. A ']' that comes first
/// does not close it.
std::optional<Set> set_at_front(std::u32string_view pattern) {
  const bool negated = pattern.size() > 1 && pattern[1] == U'!';
  const std::size_t begin = negated ? 2 : 1;
  const std::size_t close = pattern.find(U']', begin + 1);
  if (close == std::u32string_view::npos) return std::nullopt;
  return Set{pattern.substr(begin, close - begin), negated, close + 1};
}

bool is_in(char32_t c, std::u32string_view content) {
  std::size_t i = 0;
  while (i < content.size()) {
    const bool is_span = i + 2 < content.size() && content[i + 1] == U'-';
    if (is_span ? content[i] <= c && c <= content[i + 2] : content[i] == c) return true;
    i += is_span ? 3 : 1;
  }
  return false;
}

/// How much of the pattern one character uses; nothing when it does not match.
std::optional<std::size_t> match_one(char32_t c, std::u32string_view pattern) {
  if (pattern.empty()) return std::nullopt;
  if (pattern.front() == U'?') return 1;
  if (pattern.front() == U'[') {
    if (const auto set = set_at_front(pattern)) {
      if (is_in(c, set->content) == set->negated) return std::nullopt;
      return set->length;
    }
  }
  if (pattern.front() != c) return std::nullopt;
  return 1;
}

}  // namespace

bool matches_pattern(std::string_view name, std::string_view pattern) {
  const std::u32string text = code_points(name);
  const std::u32string points = code_points(pattern);
  const std::u32string_view all = points;
  std::size_t at = 0;
  std::size_t used = 0;  // of the pattern
  // Where to go on when the last '*' should take one character more; the earlier ones never need
  // to.
  std::optional<std::size_t> star;
  std::size_t star_end = 0;
  while (at < text.size()) {
    if (used < all.size() && all[used] == U'*') {
      star = ++used;
      star_end = at;
    } else if (const auto length = match_one(text[at], all.substr(used))) {
      used += *length;
      ++at;
    } else if (star) {
      used = *star;
      at = ++star_end;
    } else {
      return false;
    }
  }
  while (used < all.size() && all[used] == U'*') ++used;
  return used == all.size();
}

}  // namespace profline::config
