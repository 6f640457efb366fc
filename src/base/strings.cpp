#include "base/strings.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace profline {
namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool same_letter(char a, char b) {
  return lower(a) == lower(b);
}

/// Optimal string alignment distance, letters compared without case.
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

/// Whether a typing error explains one name for the other: a third of the longer one may be wrong,
/// and one letter always.
bool is_close(std::size_t distance, std::size_t longer) {
  return distance <= std::max<std::size_t>(1, longer / 3) && distance < longer;
}

struct Utf8Form {
  unsigned char lead_from, lead_to;      // range of the first byte
  unsigned char second_from, second_to;  // of the second: leaves out overlong forms and surrogates
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

/// Length of the UTF-8 sequence at the start of `text`, which is not empty; 0 when it is not one.
std::size_t sequence_length(std::string_view text) {
  for (const Utf8Form& form : kUtf8Forms) {
    if (matches(form, text)) return form.length;
  }
  return 0;
}

}  // namespace

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
  constexpr std::size_t kLongestName = 128;  // nobody mistypes more, and the distance is quadratic
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

}  // namespace profline
