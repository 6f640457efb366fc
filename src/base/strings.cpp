#include "base/strings.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace profline {
namespace {

bool same_letter(char a, char b) {
  return lower(a) == lower(b);
}

/// Optimal string alignment distance, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0U : 1U);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

/// Whether a typing error explains the difference: a third of the longer name may be wrong, and one
/// letter always.
bool is_close(std::size_t distance, std::size_t longer) {
  return distance <= std::max<std::size_t>(1, longer / 3) && distance < longer;
}

struct Utf8Form {
  unsigned char lead_from, lead_to;      // range of the first byte
  unsigned char second_from, second_to;  // of the second: excludes overlong forms and surrogates
  std::size_t length;
};
// RFC 3629, section 4.
constexpr Utf8Form kUtf8Forms[] = {
    {0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
    {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
    {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

bool matches(const Utf8Form& form, std::string_view text) {
  const auto within = [&](std::size_t i, unsigned char from, unsigned char to) {
    const auto byte = static_cast<unsigned char>(text[i]);
    return byte >= from && byte <= to;
  };
  if (text.size() < form.length || !within(0, form.lead_from, form.lead_to)) return false;
  if (form.length > 1 && !within(1, form.second_from, form.second_to)) return false;
  for (std::size_t i = 2; i < form.length; ++i) {
    if (!within(i, 0x80, 0xBF)) return false;
  }
  return true;
}

/// Length of the UTF-8 sequence at the start of `text`, which is not empty; 0 if it is invalid.
std::size_t sequence_length(std::string_view text) {
  for (const Utf8Form& form : kUtf8Forms) {
    if (matches(form, text)) return form.length;
  }
  return 0;
}

/// UTF-8 to code points; an invalid byte stands for itself.
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

/// `[…]` at the start of a pattern.
struct Set {
  std::u32string_view content;  // without the brackets and '!'
  bool negated = false;
  std::size_t length = 0;  // with them
};

/// Nothing when the bracket is never closed, and is therefore an ordinary character. A ']' that
/// comes first does not close it.
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

/// What a '[' in a pattern is.
enum class Brackets { AreSets, AreCharacters };

/// How much of the pattern one character uses; nothing when it does not match.
std::optional<std::size_t> match_one(char32_t c, std::u32string_view pattern, Brackets brackets) {
  if (pattern.empty()) return std::nullopt;
  if (pattern.front() == U'?') return 1;
  if (pattern.front() == U'[' && brackets == Brackets::AreSets) {
    if (const auto set = set_at_front(pattern)) {
      if (is_in(c, set->content) == set->negated) return std::nullopt;
      return set->length;
    }
  }
  if (pattern.front() != c) return std::nullopt;
  return 1;
}

bool matches(std::string_view name, std::string_view pattern, Brackets brackets) {
  const std::u32string text = code_points(name);
  const std::u32string points = code_points(pattern);
  const std::u32string_view all = points;
  std::size_t at = 0;
  std::size_t used = 0;  // of the pattern
  // Where to resume when the last '*' has to take one more character; earlier ones never need to.
  std::optional<std::size_t> star;
  std::size_t star_end = 0;
  while (at < text.size()) {
    if (used < all.size() && all[used] == U'*') {
      star = ++used;
      star_end = at;
    } else if (const auto length = match_one(text[at], all.substr(used), brackets)) {
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

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kBytesInLine = 57;  // 76 characters

void encode_group(std::string_view group, std::string& out) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    bits = bits << 8U | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const bool padding = i > group.size();
    out.push_back(padding ? '=' : kAlphabet[bits >> (18U - 6U * i) & 63U]);
  }
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

bool matches_pattern(std::string_view name, std::string_view pattern) {
  return matches(name, pattern, Brackets::AreSets);
}

bool matches_wildcards(std::string_view name, std::string_view pattern) {
  return matches(name, pattern, Brackets::AreCharacters);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> parts = split(text, '\n');
  if (parts.back().empty()) parts.pop_back();
  for (std::string_view& line : parts) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  }
  return parts;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != parts.data()) text += separator;
    text += part;
  }
  return text;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::vector<std::string> nearest(std::string_view name, std::span<const std::string> candidates,
                                 std::size_t at_most) {
  constexpr std::size_t kLongestName = 128;  // limits the cost: the distance is quadratic
  struct Scored {
    std::size_t distance;
    const std::string* name;
  };
  std::vector<Scored> close;
  if (name.size() > kLongestName) return {};
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (is_close(distance, std::max(name.size(), candidate.size()))) {
      close.push_back({distance, &candidate});
    }
  }
  std::stable_sort(close.begin(), close.end(),
                   [](const Scored& a, const Scored& b) { return a.distance < b.distance; });
  if (close.size() > at_most) close.resize(at_most);
  std::vector<std::string> names;
  names.reserve(close.size());
  for (const Scored& scored : close) names.push_back(*scored.name);
  return names;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::vector<std::string> close = nearest(name, candidates);
  return close.empty() ? std::string() : " (did you mean '" + close.front() + "'?)";
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  std::size_t in_group = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return std::nullopt;
  }
  for (const char c : text) {
    if (c == '=') {
      ++padding;
      if (in_group >= 2 && in_group + padding >= 4) return bytes;
      continue;
    }
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) continue;
    padding = 0;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    in_group = (in_group + 1) % 4;
    // The second, third and fourth character of a group each complete a byte.
    if (in_group != 1)
      bytes.push_back(static_cast<char>(bits >> (2U * ((4 - in_group) % 4)) & 255U));
  }
  if (in_group != 0) return std::nullopt;
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) encode_group(bytes.substr(i, 3), out);
  return out;
}

std::string encode_base64_lines(std::string_view bytes) {
  std::string out;
  for (std::size_t line = 0; line < bytes.size(); line += kBytesInLine) {
    out += encode_base64(bytes.substr(line, kBytesInLine)) + '\n';
  }
  return out;
}

}  // namespace profline
