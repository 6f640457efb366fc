#include "tiles/query.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <utility>

#include "base/strings.h"

namespace profline::tiles {
namespace {

/// Times far from overflow in sums and shifts.
constexpr std::int64_t kFarthest = std::int64_t{1} << 61U;
constexpr std::size_t kMostLanes = 4096;

struct WhatName {
  Query::What what;
  std::string_view name;
  /// What it takes; those before the bar are required.
  std::vector<std::string> required;
  std::vector<std::string> optional;
};

const std::vector<WhatName>& whats() {
  static const std::vector<WhatName> kWhats = {
      {Query::What::Capture, "capture", {}, {}},
      {Query::What::Window, "window", {"from", "to", "pixels"}, {"lanes", "depths"}},
      {Query::What::Tile, "tile", {"lane", "level", "index"}, {}},
      {Query::What::Totals, "totals", {}, {"from", "to", "lanes", "limit"}},
      {Query::What::Find, "find", {}, {"text", "name", "at", "direction", "from", "to", "lanes"}},
      {Query::What::Event, "event", {"id"}, {}},
  };
  return kWhats;
}

Error wrong(std::string text) {
  return Error(ErrorKind::Config, std::move(text));
}

std::optional<int> hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char small = lower(c);
  if (small >= 'a' && small <= 'f') return small - 'a' + 10;
  return std::nullopt;
}

Result<std::string> decoded(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+') {
      result += ' ';
    } else if (text[at] == '%') {
      const auto high = at + 2 < text.size() ? hex_digit(text[at + 1]) : std::nullopt;
      const auto low = high ? hex_digit(text[at + 2]) : std::nullopt;
      if (!low) return wrong("'%' must be followed by two hexadecimal digits");
      result += static_cast<char>(*high * 16 + *low);
      at += 2;
    } else {
      result += text[at];
    }
  }
  if (first_invalid_utf8(result)) return wrong("the query is not UTF-8");
  return result;
}

std::string encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '~') {
      result += c;
    } else {
      result += '%';
      result += kDigits[byte >> 4U];
      result += kDigits[byte & 15U];
    }
  }
  return result;
}

using Parameters = std::map<std::string, std::string, std::less<>>;

Result<Parameters> parameters_of(std::string_view text) {
  Parameters parameters;
  for (const std::string_view part : split(text, '&')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const std::string name = PL_TRY(decoded(part.substr(0, equals)));
    const std::string value = PL_TRY(
        decoded(equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1)));
    if (!parameters.try_emplace(name, value).second) return wrong("'" + name + "' is given twice");
  }
  return parameters;
}

/// Reads numbers out of parameters.
class Reader {
 public:
  explicit Reader(const Parameters& parameters) : parameters_(parameters) {}

  bool has(std::string_view name) const { return parameters_.find(name) != parameters_.end(); }
  const std::string& text(std::string_view name) const { return parameters_.find(name)->second; }

  template <typename T>
  Result<T> number(std::string_view name, std::int64_t least, std::int64_t most) const {
    const std::string& text = this->text(name);
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || end != text.data() + text.size() || number < least ||
        number > most) {
      return wrong("'" + std::string(name) + "' must be a whole number from " +
                   std::to_string(least) + " to " + std::to_string(most) + ", not '" + text + "'");
    }
    return static_cast<T>(number);
  }

 private:
  const Parameters& parameters_;
};

constexpr std::int64_t kMostNumber = 0xFFFFFFFF;

Result<std::vector<std::uint32_t>> read_lanes(std::string_view text) {
  std::vector<std::uint32_t> lanes;
  for (const std::string_view part : split(text, ',')) {
    const auto lane = whole_number<std::uint32_t>(part);
    if (!lane || lanes.size() == kMostLanes) {
      return wrong("'lanes' must be numbers of lanes with commas between them, at most " +
                   std::to_string(kMostLanes));
    }
    lanes.push_back(*lane);
  }
  return lanes;
}

Result<EventId> read_id(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto row = whole_number<std::uint32_t>(text.substr(0, dot));
  const auto number = dot == std::string_view::npos
                          ? std::nullopt
                          : whole_number<std::uint64_t>(text.substr(dot + 1));
  if (!row || !number) return wrong("'id' must be the id of an event, such as 0.17");
  return EventId{*row, *number};
}

Result<void> read_window(const Reader& from, Query& query) {
  if (!from.has("from") && !from.has("to")) {
    query.whole = true;
    return {};
  }
  if (!from.has("from") || !from.has("to")) return wrong("'from' and 'to' belong together");
  query.window.from_ns = PL_TRY(from.number<std::int64_t>("from", -kFarthest, kFarthest));
  query.window.to_ns = PL_TRY(from.number<std::int64_t>("to", -kFarthest, kFarthest));
  if (query.window.to_ns <= query.window.from_ns) return wrong("'to' must be greater than 'from'");
  return {};
}

Result<void> read_find(const Reader& from, Query& query) {
  if (from.has("text") == from.has("name")) {
    return wrong("find takes 'text', a part of the name, or 'name', its number");
  }
  if (from.has("text")) query.text = from.text("text");
  if (from.has("text") && query.text.empty()) return wrong("'text' is empty");
  if (from.has("name")) query.name = PL_TRY(from.number<std::uint32_t>("name", 0, kMostNumber));
  if (from.has("direction")) {
    const std::string& direction = from.text("direction");
    if (direction != "next" && direction != "previous") {
      return wrong("'direction' must be next or previous, not '" + direction + "'");
    }
    if (direction == "previous") query.direction = Index::Direction::Previous;
  }
  if (from.has("at")) query.at_ns = PL_TRY(from.number<std::int64_t>("at", -kFarthest, kFarthest));
  return {};
}

Result<void> read_parameters(const Reader& from, Query& query) {
  if (from.has("lanes")) query.lanes = PL_TRY(read_lanes(from.text("lanes")));
  if (from.has("depths")) query.depths = PL_TRY(from.number<std::uint32_t>("depths", 1, 64));
  if (from.has("limit")) query.limit = PL_TRY(from.number<std::uint32_t>("limit", 1, 1000));
  if (from.has("pixels")) {
    query.pixels = PL_TRY(from.number<std::uint32_t>("pixels", 1, kMostPixels));
  }
  switch (query.what) {
    case Query::What::Capture:
      return {};
    case Query::What::Window:
    case Query::What::Totals:
      return read_window(from, query);
    case Query::What::Find:
      PL_TRY(read_find(from, query));
      return read_window(from, query);
    case Query::What::Tile:
      query.lane = PL_TRY(from.number<std::uint32_t>("lane", 0, kMostNumber));
      query.level = PL_TRY(from.number<std::uint32_t>("level", 0, 50));
      query.index = PL_TRY(from.number<std::int64_t>(
          "index", 0, (kFarthest >> query.level) / std::int64_t{kBinsOfTile} - 1));
      return {};
    case Query::What::Event:
      query.id = PL_TRY(read_id(from.text("id")));
      return {};
  }
  return {};
}

std::string one_of_whats() {
  std::vector<std::string> names;
  for (const WhatName& what : whats()) names.emplace_back(what.name);
  return join(names, ", ");
}

}  // namespace

Result<Query> parse_query(std::string_view text) {
  Parameters parameters = PL_TRY(parameters_of(text));
  const auto asked = parameters.find("what");
  const auto& known = whats();
  const auto what = std::find_if(known.begin(), known.end(), [&](const WhatName& candidate) {
    return asked != parameters.end() && asked->second == candidate.name;
  });
  if (what == known.end()) return wrong("'what' must be one of " + one_of_whats());
  parameters.erase(asked);
  std::vector<std::string> names = what->required;
  names.insert(names.end(), what->optional.begin(), what->optional.end());
  for (const auto& [name, value] : parameters) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return wrong(std::string(what->name) + " has no parameter '" + name + "'" +
                   did_you_mean(name, names));
    }
  }
  for (const std::string& name : what->required) {
    if (parameters.count(name) == 0) {
      return wrong(std::string(what->name) + " needs the parameter '" + name + "'");
    }
  }
  Query query;
  query.what = what->what;
  PL_TRY(read_parameters(Reader(parameters), query));
  return query;
}

std::string to_text(const Query& query) {
  const auto what = std::find_if(whats().begin(), whats().end(), [&](const WhatName& candidate) {
    return candidate.what == query.what;
  });
  std::string text = "what=" + std::string(what->name);
  const auto add = [&](std::string_view name, const std::string& value) {
    text += '&';
    text += name;
    text += '=';
    text += value;
  };
  const auto takes = [&](std::string_view name) {
    return std::find(what->required.begin(), what->required.end(), name) != what->required.end() ||
           std::find(what->optional.begin(), what->optional.end(), name) != what->optional.end();
  };
  if (takes("from") && !query.whole) {
    add("from", std::to_string(query.window.from_ns));
    add("to", std::to_string(query.window.to_ns));
  }
  if (takes("pixels")) add("pixels", std::to_string(query.pixels));
  if (takes("lanes") && query.lanes) {
    std::vector<std::string> numbers;
    for (const std::uint32_t lane : *query.lanes) numbers.push_back(std::to_string(lane));
    add("lanes", join(numbers, ","));
  }
  if (takes("depths")) add("depths", std::to_string(query.depths));
  if (takes("limit")) add("limit", std::to_string(query.limit));
  if (takes("level")) {
    add("lane", std::to_string(query.lane));
    add("level", std::to_string(query.level));
    add("index", std::to_string(query.index));
  }
  if (query.what == Query::What::Find) {
    if (query.name) add("name", std::to_string(*query.name));
    if (!query.name) add("text", encoded(query.text));
    add("at", std::to_string(query.at_ns));
    if (query.direction == Index::Direction::Previous) add("direction", "previous");
  }
  if (query.what == Query::What::Event) {
    add("id", std::to_string(query.id.row) + "." + std::to_string(query.id.number));
  }
  return text;
}

}  // namespace profline::tiles
