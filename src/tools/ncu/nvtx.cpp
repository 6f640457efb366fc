#include "tools/ncu/nvtx.h"

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

/// A glob as a regular expression: `*` and `?` are wildcards, everything else is literal.
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

/// Judging by the names: `A::A1::A2` is in `A::A1` and in `A`.
bool is_inside(std::string_view inner, std::string_view outer) {
  if (is_in_ncus_grammar(inner) || is_in_ncus_grammar(outer)) return false;
  const std::vector<std::string_view> in = levels_of(inner);
  const std::vector<std::string_view> out = levels_of(outer);
  return out.size() < in.size() && std::equal(out.begin(), out.end(), in.begin());
}

constexpr std::string_view kDefaultDomain = "<default domain>";
constexpr std::size_t kAttributes =
    5;  // payload type and value, color type and value, message type

std::size_t colons(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), ':'));
}

/// The name in `NAME:none:none:none:none:ASCII:NAME`, where it occurs twice and may contain colons;
/// empty otherwise.
std::string_view repeated_name(std::string_view rest) {
  for (std::size_t end = rest.find(':'); end != std::string_view::npos;
       end = rest.find(':', end + 1)) {
    const std::string_view name = rest.substr(0, end);
    if (2 * end + 2 > rest.size()) break;
    if (!rest.ends_with(name) || rest[rest.size() - end - 1] != ':') continue;
    const std::string_view between = rest.substr(end + 1, rest.size() - 2 * end - 2);
    if (colons(between) == kAttributes - 1) return name;
  }
  return {};
}

/// The name in `NAME:none:none:none:none:none:none`: the text before the six fields.
std::string_view name_in_front(std::string_view rest) {
  for (std::size_t field = 0; field <= kAttributes; ++field) {
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos) return {};
    rest = rest.substr(0, colon);
  }
  return rest;
}

/// Ranges that are started and stopped begin with a number.
std::string_view without_number(std::string_view entry) {
  const std::size_t colon = entry.find(':');
  if (colon == std::string_view::npos || colon == 0) return entry;
  const std::string_view number = entry.substr(0, colon);
  const bool is_number = number.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number && colons(entry) > kAttributes + 2 ? entry.substr(colon + 1) : entry;
}

NvtxRange parse_entry(std::string_view entry) {
  entry = without_number(entry);
  const std::size_t domain_end = entry.find(':');
  if (domain_end == std::string_view::npos) return {"", std::string(entry)};
  std::string_view domain = entry.substr(0, domain_end);
  const std::string_view rest = entry.substr(domain_end + 1);
  std::string_view name = repeated_name(rest);
  if (name.empty()) name = name_in_front(rest);
  if (name.empty()) return {"", std::string(entry)};
  if (domain == kDefaultDomain) domain = {};
  return {std::string(domain), std::string(name)};
}

/// Where the entry that begins after a quote ends: at a quote followed by a blank or the end.
std::size_t entry_end(std::string_view cell, std::size_t from) {
  for (std::size_t at = cell.find('"', from); at != std::string_view::npos;
       at = cell.find('"', at + 1)) {
    if (at + 1 == cell.size() || cell[at + 1] == ' ' || cell[at + 1] == ',') return at;
  }
  return cell.size();
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

std::vector<NvtxRange> parse_nvtx_state(std::string_view cell) {
  std::vector<NvtxRange> ranges;
  for (std::size_t open = cell.find('"'); open != std::string_view::npos;) {
    const std::size_t end = entry_end(cell, open + 1);
    const std::string_view entry = cell.substr(open + 1, end - open - 1);
    if (!entry.empty()) ranges.push_back(parse_entry(entry));
    if (end == cell.size()) break;
    open = cell.find('"', end + 1);
  }
  return ranges;
}

}  // namespace profline::ncu
