#include "analysis/timeline/range_names.h"

#include <algorithm>
#include <array>
#include <optional>

namespace profline::timeline {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What PyTorch appends to the name of an operator, and how the value after it begins.
struct Suffix {
  std::string_view key;
  bool is_number;  // otherwise a list
};
constexpr std::array kSuffixes = {
    Suffix{", seq = ", true},         Suffix{", op_id = ", true},
    Suffix{", sizes = ", false},      Suffix{", input_op_ids = ", false},
    Suffix{", stashed seq = ", true}, Suffix{", seq=", true},
    Suffix{", stashed seq=", true},
};

bool is_value(std::string_view text, bool is_number) {
  return !text.empty() && (is_number ? is_digit(text.front()) : text.front() == '[');
}

/// `aten::to, op_id = 7` without what begins at the first of the suffixes.
std::string_view without_suffixes(std::string_view name) {
  std::size_t end = name.size();
  for (const Suffix& suffix : kSuffixes) {
    const std::size_t at = name.find(suffix.key);
    if (at == std::string_view::npos || at == 0) continue;
    if (is_value(name.substr(at + suffix.key.size()), suffix.is_number)) end = std::min(end, at);
  }
  return name.substr(0, end);
}

/// One glob against one text; a '*' that took too little takes one character more.
bool matches_glob(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t used = 0;  // of the pattern
  std::optional<std::size_t> star;
  std::size_t star_end = 0;
  while (at < text.size()) {
    if (used < pattern.size() && pattern[used] == '*') {
      star = ++used;
      star_end = at;
    } else if (used < pattern.size() && (pattern[used] == '?' || pattern[used] == text[at])) {
      ++used;
      ++at;
    } else if (star) {
      used = *star;
      at = ++star_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', used) == std::string_view::npos;
}

}  // namespace

std::string range_label(std::string_view name) {
  constexpr std::string_view kStep = "ProfilerStep#";
  if (name.starts_with(kStep) && name.size() > kStep.size() &&
      std::all_of(name.begin() + kStep.size(), name.end(), is_digit)) {
    return std::string(kStep) + '*';
  }
  return std::string(without_suffixes(name));
}

RangeLabels::RangeLabels(const Timeline& timeline) : of_name_(timeline.names.size()) {
  std::vector<bool> known(timeline.names.size());
  for (const Range& range : timeline.ranges) {
    if (known[range.name]) continue;
    known[range.name] = true;
    of_name_[range.name] = labels_.id_of(range_label(timeline.names.text(range.name)));
  }
}

bool matches_range(std::string_view name, std::string_view pattern) {
  // First as it stands: names hold '*' and '?' too.
  if (name == pattern || matches_glob(name, pattern)) return true;
  const std::string label = range_label(name);
  return label == pattern || matches_glob(label, pattern);
}

std::vector<bool> matching_ranges(const Timeline& timeline, std::string_view pattern) {
  std::vector<bool> known(timeline.names.size());
  std::vector<bool> matching(timeline.names.size());
  for (const Range& range : timeline.ranges) {
    if (known[range.name]) continue;
    known[range.name] = true;
    matching[range.name] = matches_range(timeline.names.text(range.name), pattern);
  }
  return matching;
}

std::vector<bool> contexts_in_ranges(const Timeline& timeline, const Attribution& attribution,
                                     std::string_view pattern) {
  const std::vector<bool> matching = matching_ranges(timeline, pattern);
  std::vector<bool> inside(attribution.context_count());
  for (ContextId id = 1; id < inside.size(); ++id) {
    // What is below a context came before it.
    const Context& context = attribution.context(id);
    inside[id] = inside[context.below] || matching[timeline.ranges[context.range].name];
  }
  return inside;
}

}  // namespace profline::timeline
