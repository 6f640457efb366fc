#include "tools/ncu/nvtx_state.h"

#include <algorithm>

namespace profline::ncu {
namespace {

constexpr std::string_view kDefaultDomain = "<default domain>";
constexpr std::size_t kAttributes =
    5;  // payload type and value, color type and value, message type

std::size_t colons(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), ':'));
}

/// The name in `NAME:none:none:none:none:ASCII:NAME`, where it stands twice and may have colons of
/// its own; empty when it does not.
std::string_view name_told_twice(std::string_view rest) {
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

/// The name in `NAME:none:none:none:none:none:none`: what is left of the fields behind it.
std::string_view name_in_front(std::string_view rest) {
  for (std::size_t field = 0; field <= kAttributes; ++field) {
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos) return {};
    rest = rest.substr(0, colon);
  }
  return rest;
}

/// Ranges that are started and stopped have a number in front.
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
  std::string_view name = name_told_twice(rest);
  if (name.empty()) name = name_in_front(rest);
  if (name.empty()) return {"", std::string(entry)};
  if (domain == kDefaultDomain) domain = {};
  return {std::string(domain), std::string(name)};
}

/// Where the entry that begins behind a quote ends: at a quote with a blank or nothing behind it.
std::size_t entry_end(std::string_view cell, std::size_t from) {
  for (std::size_t at = cell.find('"', from); at != std::string_view::npos;
       at = cell.find('"', at + 1)) {
    if (at + 1 == cell.size() || cell[at + 1] == ' ' || cell[at + 1] == ',') return at;
  }
  return cell.size();
}

}  // namespace

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
