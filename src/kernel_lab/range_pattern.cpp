#include "kernel_lab/internal/range_pattern.h"

#include "base/strings.h"

namespace profline::kernel_lab::internal {
namespace {

/// `*` and `?` are wild, all else is itself.
std::regex glob(std::string_view text) {
  constexpr std::string_view kSpecial = "\\^$.|+()[]{}";
  std::string expression;
  for (const char letter : text) {
    if (letter == '*') {
      expression += ".*";
    } else if (letter == '?') {
      expression += '.';
    } else {
      if (kSpecial.find(letter) != std::string_view::npos) expression += '\\';
      expression += letter;
    }
  }
  return std::regex(expression);
}

}  // namespace

std::optional<RangePattern> RangePattern::of(std::string_view text) {
  text = trim(text);
  // What tools/ncu/nvtx_expression.h passes as it stands.
  const bool is_ncus =
      text.starts_with("regex:") || text.find_first_of("/@,[]+\\") != std::string_view::npos;
  if (is_ncus || text.empty()) return std::nullopt;
  constexpr std::string_view kNesting = "::";
  RangePattern pattern;
  for (std::size_t begin = 0; begin != std::string_view::npos;) {
    const std::size_t end = text.find(kNesting, begin);
    const bool is_last = end == std::string_view::npos;
    pattern.levels_.push_back(glob(text.substr(begin, is_last ? end : end - begin)));
    begin = is_last ? end : end + kNesting.size();
  }
  return pattern;
}

bool RangePattern::is_open_in(std::span<const std::string> stack) const {
  std::size_t level = 0;
  for (const std::string& range : stack) {
    if (level < levels_.size() && std::regex_match(range, levels_[level])) ++level;
  }
  return level == levels_.size();
}

}  // namespace profline::kernel_lab::internal
