#include "tools/ncu/nvtx_expression.h"

#include <algorithm>

#include "base/strings.h"

namespace profline::ncu {
namespace {

constexpr std::string_view kOwnGrammar = "/@,[]+\\";
constexpr std::string_view kNesting = "::";

bool is_in_ncus_grammar(std::string_view text) {
  return text.starts_with("regex:") || text.find_first_of(kOwnGrammar) != std::string_view::npos;
}

std::vector<std::string_view> levels_of(std::string_view text) {
  std::vector<std::string_view> levels;
  for (;;) {
    const std::size_t end = text.find(kNesting);
    levels.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return levels;
    text.remove_prefix(end + kNesting.size());
  }
}

/// A glob as a regular expression: `*` and `?` are wild, all else is itself.
std::string regex_of(std::string_view glob) {
  constexpr std::string_view kSpecial = ".^$|(){}";
  std::string regex;
  for (const char c : glob) {
    if (c == '*') {
      regex += ".*";
    } else if (c == '?') {
      regex += '.';
    } else {
      if (kSpecial.find(c) != std::string_view::npos) regex += '\\';
      regex += c;
    }
  }
  return regex;
}

/// By its name: `A::A1::A2` is in `A::A1` and in `A`.
bool is_inside(std::string_view inner, std::string_view outer) {
  if (is_in_ncus_grammar(inner) || is_in_ncus_grammar(outer)) return false;
  const std::vector<std::string_view> in = levels_of(inner);
  const std::vector<std::string_view> out = levels_of(outer);
  return out.size() < in.size() && std::equal(out.begin(), out.end(), in.begin());
}

}  // namespace

std::string translate_range(std::string_view text) {
  text = trim(text);
  if (is_in_ncus_grammar(text)) return std::string(text);
  const bool is_glob = text.find_first_of("*?") != std::string_view::npos;
  const std::vector<std::string_view> levels = levels_of(text);
  std::string passed = is_glob ? "regex:" : "";
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i > 0) passed += "/*/";
    passed += is_glob ? regex_of(levels[i]) : std::string(levels[i]);
  }
  if (levels.size() == 1) passed += '/';
  return passed;
}

std::vector<NvtxExpression> translate_ranges(std::span<const std::string> items) {
  std::vector<NvtxExpression> expressions;
  for (const std::string& item : items) {
    if (!trim(item).empty()) {
      expressions.push_back({std::string(trim(item)), translate_range(item)});
    }
  }
  return expressions;
}

bool names_range(const NvtxExpression& range, std::string_view region) {
  const bool is_glob = range.given.find_first_of("*?") != std::string::npos;
  if (is_in_ncus_grammar(range.given) || is_glob) return true;
  const std::vector<std::string_view> wanted = levels_of(range.given);
  const std::vector<std::string_view> labels = levels_of(region);
  auto next = wanted.begin();
  for (const std::string_view label : labels) {
    if (next != wanted.end() && label == *next) ++next;
  }
  return next == wanted.end() && labels.back() == wanted.back();
}

std::vector<std::vector<NvtxExpression>> by_nesting(std::span<const NvtxExpression> ranges) {
  std::vector<std::vector<NvtxExpression>> groups;
  for (const NvtxExpression& range : ranges) {
    const auto depth = static_cast<std::size_t>(std::count_if(
        ranges.begin(), ranges.end(),
        [&](const NvtxExpression& other) { return is_inside(range.given, other.given); }));
    if (groups.size() <= depth) groups.resize(depth + 1);
    groups[depth].push_back(range);
  }
  return groups;
}

}  // namespace profline::ncu
