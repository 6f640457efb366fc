#include "tools/ncu/nvtx_expression.h"

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

}  // namespace profline::ncu
