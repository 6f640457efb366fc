#include "serve/target.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"

namespace profline::serve {
namespace {

constexpr const char* kIcon = "favicon.ico";
constexpr std::string_view kFilesPage = "files";
constexpr std::string_view kTimelinePage = "timeline";
constexpr std::string_view kTilesPage = "tiles";

Error not_an_address(std::string why) {
  return Error(ErrorKind::Parse, "this is not an address of a page: " + std::move(why));
}

Error no_such_page() {
  return Error(ErrorKind::NotFound, "there is no such page");
}

std::optional<unsigned> hex_digit(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  const char small = lower(c);
  if (small >= 'a' && small <= 'f') return static_cast<unsigned>(small - 'a' + 10);
  return std::nullopt;
}

/// A form writes spaces as `+`; a path does not.
enum class Plus { IsPlus, IsSpace };

Result<std::string> unescaped(std::string_view text, Plus plus) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus == Plus::IsSpace) c = ' ';
    if (text[i] == '%') {
      const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
      if (!high || !low) return not_an_address("'%' without two hexadecimal digits");
      c = static_cast<char>(*high << 4U | *low);
      i += 2;
    }
    constexpr unsigned char kDelete = 0x7F;
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == kDelete) return not_an_address("it has a control character");
    bytes += c;
  }
  if (first_invalid_utf8(bytes)) return not_an_address("it is not UTF-8");
  return bytes;
}

Result<Query> parse_query(std::string_view text) {
  Query query;
  if (text.empty()) return query;
  for (const std::string_view part : split(text, '&')) {
    if (part.empty()) continue;
    if (query.entries.size() == kMostParameters) return not_an_address("too many parameters");
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    query.entries.emplace_back(PL_TRY(unescaped(part.substr(0, equals), Plus::IsSpace)),
                               PL_TRY(unescaped(value, Plus::IsSpace)));
  }
  return query;
}

bool stays_inside(std::string_view path) {
  const auto parts = split(path, '/');
  return std::none_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part.empty() || part == "." || part == "..";
  });
}

/// The decoded parts of a path, none of which leads elsewhere; an escaped slash may be in a part.
Result<std::vector<std::string>> parse_path(std::string_view path) {
  std::vector<std::string> parts;
  if (path.empty() || path.front() != '/') return not_an_address("it does not begin with '/'");
  path.remove_prefix(1);
  if (path.empty()) return parts;
  if (path.ends_with('/')) path.remove_suffix(1);
  for (const std::string_view part : split(path, '/')) {
    parts.push_back(PL_TRY(unescaped(part, Plus::IsPlus)));
    if (!stays_inside(parts.back())) return not_an_address("its path leads out of its folder");
    // Only the id of a run or sweep has slashes: it is a folder below the root.
    const bool is_id = parts.size() == 2 || (parts.size() == 3 && parts.front() == "api");
    if (!is_id && parts.back().find('/') != std::string::npos) return no_such_page();
  }
  return parts;
}

std::string rest_of(const std::vector<std::string>& parts, std::size_t from) {
  const auto first = parts.begin() + static_cast<std::ptrdiff_t>(std::min(from, parts.size()));
  return join(std::vector<std::string>(first, parts.end()), "/");
}

/// The pages of a run, `/runs/ID/...`.
void read_run_page(const std::vector<std::string>& parts, Target& target) {
  constexpr std::size_t kPage = 2;
  target.id = parts[1];
  target.page = Page::Run;
  if (parts.size() == kPage) return;
  const std::string& page = parts[kPage];
  const bool is_last = parts.size() == kPage + 1;
  if (page == kTimelinePage && is_last) {
    target.page = Page::Timeline;
  } else if (page == kFilesPage) {
    target.page = is_last ? Page::Files : Page::File;
    target.path = rest_of(parts, kPage + 1);
  } else {
    target.page = Page::RunLink;
    target.path = rest_of(parts, kPage);
  }
}

bool read_page(const std::vector<std::string>& parts, Target& target) {
  if (parts.empty()) return true;
  const std::string& first = parts.front();
  if (first == kIcon && parts.size() == 1) {  // browsers ask for it by themselves
    target.page = Page::Asset;
    target.path = kIcon;
    return true;
  }
  if (parts.size() == 1) {
    for (const auto& [name, page] : {std::pair("trends", Page::Trends),
                                     {"compare", Page::Compare},
                                     {"sweeps", Page::Sweeps},
                                     {"runs", Page::Runs}}) {
      if (first != name) continue;
      target.page = page;
      return true;
    }
    return false;
  }
  if (first == "assets") {
    target.page = Page::Asset;
    target.path = rest_of(parts, 1);
    return true;
  }
  if (first == "runs") {
    read_run_page(parts, target);
    return true;
  }
  if (first == "sweeps") {
    target.id = parts[1];
    target.page = parts.size() == 2 ? Page::Sweep : Page::SweepJob;
    target.path = rest_of(parts, 2);
    return true;
  }
  constexpr std::size_t kApi = 4;
  if (first == "api" && parts.size() >= kApi && parts[1] == "runs" && parts[3] == kTilesPage) {
    target.page = Page::Tiles;
    target.id = parts[2];
    target.path = rest_of(parts, kApi);
    return true;
  }
  return false;
}

std::string escaped_path(std::string_view path) {
  std::string text;
  for (const std::string_view part : split(path, '/')) {
    if (!text.empty()) text += '/';
    text += escaped(part);
  }
  return text;
}

std::string path_of(const Target& target) {
  const std::string run = "/runs/" + escaped(target.id) + "/";
  const std::string sweep = "/sweeps/" + escaped(target.id) + "/";
  switch (target.page) {
    case Page::Runs:
      return "/";
    case Page::Trends:
      return "/trends";
    case Page::Compare:
      return "/compare";
    case Page::Sweeps:
      return "/sweeps";
    case Page::Sweep:
      return sweep;
    case Page::SweepJob:
      return sweep + escaped_path(target.path);
    case Page::Run:
      return run;
    case Page::Files:
      return run + std::string(kFilesPage);
    case Page::File:
      return run + std::string(kFilesPage) + "/" + escaped_path(target.path);
    case Page::RunLink:
      return run + escaped_path(target.path);
    case Page::Timeline:
      return run + std::string(kTimelinePage);
    case Page::Tiles: {
      const std::string tiles = "/api/runs/" + escaped(target.id) + "/" + std::string(kTilesPage);
      return target.path.empty() ? tiles : tiles + "/" + escaped_path(target.path);
    }
    case Page::Asset:
      return "/assets/" + escaped_path(target.path);
  }
  return "/";
}

}  // namespace

std::string Query::get(std::string_view name) const {
  for (const auto& [key, value] : entries) {
    if (key == name) return value;
  }
  return "";
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : entries) {
    if (key == name && !value.empty()) values.push_back(value);
  }
  return values;
}

Result<Target> parse_target(std::string_view text) {
  if (text.size() > kLongestTarget) return not_an_address("it is too long");
  text = text.substr(0, text.find('#'));
  const std::size_t mark = std::min(text.find('?'), text.size());
  Target target;
  if (!read_page(PL_TRY(parse_path(text.substr(0, mark))), target)) return no_such_page();
  target.query = PL_TRY(parse_query(text.substr(std::min(mark + 1, text.size()))));
  return target;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string safe;
  for (const char c : text) {
    const bool is_plain =
        is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      safe += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    safe += '%';
    safe += kDigits[byte >> 4U];
    safe += kDigits[byte & 15U];
  }
  return safe;
}

std::string address_of(const Target& target) {
  std::string text = path_of(target);
  char separator = '?';
  for (const auto& [name, value] : target.query.entries) {
    text += separator + escaped(name) + "=" + escaped(value);
    separator = '&';
  }
  return text;
}

std::string run_address(const std::string& id) {
  return address_of({.page = Page::Run, .id = id});
}

}  // namespace profline::serve
