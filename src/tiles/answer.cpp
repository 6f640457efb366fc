#include "tiles/answer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/strings.h"
#include "formats/json.h"
#include "records/timeline.h"
#include "tiles/query.h"

namespace profline::tiles {
namespace {

constexpr const char* kSchema = R"("schema":"profline.tiles/1")";
/// Names in windows are labels; an event's own answer has the whole name.
constexpr std::size_t kLongestLabel = 160;

Result<std::string> quoted(const std::string& text) {
  return write_json(Node::string(text), {.indent = 0});
}

std::string label(const std::string& name) {
  if (name.size() <= kLongestLabel) return name;
  std::size_t end = kLongestLabel;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end) + "…";
}

Result<std::string> texts(const std::vector<std::string>& list) {
  std::string json = "[";
  for (const std::string& text : list) {
    if (json.size() > 1) json += ',';
    json += PL_TRY(quoted(text));
  }
  return json + "]";
}

/// Appends a number and a comma.
void put(std::string& json, std::int64_t number) {
  fmt::format_to(std::back_inserter(json), FMT_STRING("{},"), number);
}

void end_list(std::string& json) {
  if (json.back() == ',') json.pop_back();
  json += ']';
}

/// The names that an answer refers to by number.
class UsedNames {
 public:
  explicit UsedNames(const Index& index) : index_(index) {}

  void add(std::uint32_t name) { names_.insert(name); }
  /// `"names":{"3":"gemm"}`
  Result<std::string> json() const {
    std::string json = R"("names":{)";
    for (const std::uint32_t name : names_) {
      if (json.back() != '{') json += ',';
      json += fmt::format(R"("{}":{})", name, PL_TRY(quoted(label(index_.name(name)))));
    }
    return json + "}";
  }

 private:
  const Index& index_;
  std::set<std::uint32_t> names_;
};

Result<std::vector<std::size_t>> lanes_of(const Index& index, const Query& query) {
  std::vector<std::size_t> lanes;
  if (!query.lanes) {
    for (std::size_t lane = 0; lane < index.lanes().size(); ++lane) lanes.push_back(lane);
    return lanes;
  }
  for (const std::uint32_t lane : *query.lanes) {
    if (lane >= index.lanes().size()) {
      return Error(ErrorKind::NotFound, fmt::format("there is no lane {}: the capture has {}", lane,
                                                    index.lanes().size()));
    }
    lanes.push_back(lane);
  }
  return lanes;
}

std::vector<std::uint32_t> rows_of(const Lane& lane) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t depth = 0; depth < lane.rows; ++depth) rows.push_back(lane.first_row + depth);
  return rows;
}

/// The part of a window that can contain events.
Window clamped(const Index& index, const Window& window) {
  const std::int64_t end = index.facts().length_ns + 1;
  return {std::clamp<std::int64_t>(window.from_ns, 0, end),
          std::clamp<std::int64_t>(window.to_ns, 0, end)};
}

Window window_of(const Index& index, const Query& query) {
  return query.whole ? Window{0, index.facts().length_ns + 1} : clamped(index, query.window);
}

Result<std::string> capture_json(const Index& index) {
  const CaptureFacts& facts = index.facts();
  std::string json =
      fmt::format(R"({{{},"source":{},"tool":{},"origin_ns":"{}","unix_origin_ns":"{}",)", kSchema,
                  PL_TRY(quoted(std::filesystem::path(facts.source).filename().string())),
                  PL_TRY(quoted(facts.tool)), facts.origin_ns, facts.unix_origin_ns);
  json += fmt::format(R"("length_ns":{},"events":{},"lanes":[)", facts.length_ns, facts.events);
  for (std::size_t number = 0; number < index.lanes().size(); ++number) {
    const Lane& lane = index.lanes()[number];
    if (number > 0) json += ',';
    json += fmt::format(
        R"({{"lane":{},"kind":"{}","group":{},"name":{},"rows":{},"events":{},"busy_ns":{}}})",
        number, to_text(lane.kind), PL_TRY(quoted(lane.group)), PL_TRY(quoted(lane.name)),
        lane.rows, lane.events, lane.rows > 0 ? index.busy_ns(lane.first_row) : 0);
  }
  json += fmt::format(R"(],"notes":{},"losses":{}}})", PL_TRY(texts(facts.notes)),
                      PL_TRY(texts(facts.losses)));
  return json;
}

/// Appends a row's part as an object.
void put_part(std::string& json, const Index::Place& place, const RowPart& part, UsedNames& names) {
  fmt::format_to(std::back_inserter(json),
                 FMT_STRING(R"({{"lane":{},"depth":{},"row":{},"touching":{},)"), place.lane,
                 place.depth, part.row, part.touching);
  if (part.bins.empty()) {
    json += R"("events":[)";
    for (const Event& event : part.events) {
      put(json, static_cast<std::int64_t>(event.id.number));
      put(json, event.start_ns);
      put(json, event.end_ns - event.start_ns);
      put(json, event.name);
      names.add(event.name);
    }
  } else {
    fmt::format_to(std::back_inserter(json), FMT_STRING(R"("level":{},"bins":[)"), part.level);
    for (const Bin& bin : part.bins) {
      put(json, bin.index);
      put(json, bin.busy_ns);
      put(json, bin.events);
      put(json, bin.name);
      put(json, bin.name_ns);
      names.add(bin.name);
    }
  }
  end_list(json);
  json += "},";
}

Result<std::string> window_json(const Index& index, const Query& query) {
  const std::vector<std::size_t> lanes = PL_TRY(lanes_of(index, query));
  const Window window = clamped(index, query.window);
  // The width of a pixel is that of the window asked for, of which only a part may have events.
  const double share = static_cast<double>(window.to_ns - window.from_ns) /
                       static_cast<double>(query.window.to_ns - query.window.from_ns);
  const auto pixels =
      std::max(static_cast<std::uint32_t>(static_cast<double>(query.pixels) * share + 0.5), 1U);
  UsedNames names(index);
  std::string json = fmt::format(R"({{{},"from_ns":{},"to_ns":{},"rows":[)", kSchema,
                                 query.window.from_ns, query.window.to_ns);
  std::vector<std::uint32_t> rows;
  for (const std::size_t lane : lanes) {
    for (std::uint32_t depth = 0; depth < std::min(index.lanes()[lane].rows, query.depths);
         ++depth) {
      rows.push_back(index.lanes()[lane].first_row + depth);
    }
  }
  const bool is_empty = window.to_ns <= window.from_ns;
  if (!is_empty) index.prepare(rows, window, pixels);
  for (const std::uint32_t row : rows) {
    const RowPart part = is_empty ? RowPart{.row = row} : PL_TRY(index.part(row, window, pixels));
    put_part(json, *index.place(row), part, names);
  }
  end_list(json);
  return json + "," + PL_TRY(names.json()) + "}";
}

Result<std::string> tile_json(const Index& index, const Query& query) {
  Query lane = query;
  lane.lanes = {query.lane};
  PL_TRY(lanes_of(index, lane));
  const std::int64_t width_ns = std::int64_t{kBinsOfTile} << query.level;
  lane.window = {query.index * width_ns, (query.index + 1) * width_ns};
  UsedNames names(index);
  std::string json = fmt::format(R"({{{},"from_ns":{},"to_ns":{},"rows":[)", kSchema,
                                 lane.window.from_ns, lane.window.to_ns);
  const std::vector<std::uint32_t> rows = rows_of(index.lanes()[query.lane]);
  index.prepare(rows, lane.window, kBinsOfTile);
  for (const std::uint32_t row : rows) {
    put_part(json, *index.place(row), PL_TRY(index.part(row, lane.window, kBinsOfTile)), names);
  }
  end_list(json);
  return json + "," + PL_TRY(names.json()) + "}";
}

/// The rows of these lanes by what they show.
std::map<LaneKind, std::vector<std::uint32_t>> rows_by_kind(const Index& index,
                                                            const std::vector<std::size_t>& lanes) {
  std::map<LaneKind, std::vector<std::uint32_t>> rows;
  for (const std::size_t lane : lanes) {
    const std::vector<std::uint32_t> more = rows_of(index.lanes()[lane]);
    std::vector<std::uint32_t>& all = rows[index.lanes()[lane].kind];
    all.insert(all.end(), more.begin(), more.end());
  }
  return rows;
}

Result<std::string> totals_json(const Index& index, const Query& query) {
  const std::vector<std::size_t> lanes = PL_TRY(lanes_of(index, query));
  const Window window = window_of(index, query);
  std::string json = fmt::format(R"({{{},"from_ns":{},"to_ns":{},"kinds":[)", kSchema,
                                 window.from_ns, window.to_ns);
  for (const auto& [kind, rows] : rows_by_kind(index, lanes)) {
    std::vector<Total> totals = PL_TRY(index.totals(rows, window));
    if (totals.empty()) continue;
    std::sort(totals.begin(), totals.end(), [](const Total& a, const Total& b) {
      return std::pair(-a.busy_ns, a.name) < std::pair(-b.busy_ns, b.name);
    });
    Total all;
    for (const Total& total : totals) {
      all.events += total.events;
      all.busy_ns += total.busy_ns;
    }
    json += fmt::format(R"({{"kind":"{}","events":{},"busy_ns":{},"different_names":{},"names":[)",
                        to_text(kind), all.events, all.busy_ns, totals.size());
    totals.resize(std::min<std::size_t>(totals.size(), query.limit));
    for (const Total& total : totals) {
      json += fmt::format(R"({{"name":{},"text":{},"events":{},"busy_ns":{}}},)", total.name,
                          PL_TRY(quoted(index.name(total.name))), total.events, total.busy_ns);
    }
    end_list(json);
    json += "},";
  }
  end_list(json);
  return json + "}";
}

std::string_view memory_name(std::uint32_t kind) {
  constexpr std::array<std::string_view, 6> kNames = {"unknown", "pageable", "pinned",
                                                      "device",  "array",    "managed"};
  return kind < kNames.size() ? kNames[kind] : kNames[0];
}

/// What is known of an event besides its name and times.
Result<std::string> detail_json(const Index& index, const Detail& detail) {
  const auto kind = static_cast<EventKind>(detail.kind);
  std::string json = fmt::format(R"("kind":"{}")", to_text(kind));
  if (detail.grid[0] != 0) {
    json += fmt::format(
        R"(,"grid":[{}],"block":[{}],"registers_per_thread":{},"static_shared_bytes":{},)",
        fmt::join(detail.grid, ","), fmt::join(detail.block, ","), detail.registers_per_thread,
        detail.static_shared_bytes);
    json += fmt::format(R"("dynamic_shared_bytes":{})", detail.dynamic_shared_bytes);
  }
  if (kind == EventKind::Copy || kind == EventKind::Fill) {
    json += fmt::format(R"(,"bytes":{},"to":"{}")", detail.bytes, memory_name(detail.to));
    if (kind == EventKind::Copy) json += fmt::format(R"(,"from":"{}")", memory_name(detail.from));
  }
  if (detail.text != 0) {
    json += fmt::format(R"(,"{}":{})", kind == EventKind::Range ? "domain" : "input_shapes",
                        PL_TRY(quoted(index.name(detail.text))));
  }
  return json;
}

Result<std::string> event_object(const Index& index, const Event& event) {
  const Index::Place place = *index.place(event.id.row);
  const Lane& lane = index.lanes()[place.lane];
  return fmt::format(
      R"({{"id":"{}.{}","lane":{},"depth":{},"group":{},"lane_name":{},"name":{},"text":{},)"
      R"("start_ns":{},"duration_ns":{},{}}})",
      event.id.row, event.id.number, place.lane, place.depth, PL_TRY(quoted(lane.group)),
      PL_TRY(quoted(lane.name)), event.name, PL_TRY(quoted(index.name(event.name))), event.start_ns,
      event.end_ns - event.start_ns, PL_TRY(detail_json(index, index.detail(event))));
}

Result<std::string> event_json(const Index& index, const Query& query) {
  const std::optional<Event> event = PL_TRY(index.event(query.id));
  if (!event) {
    return Error(ErrorKind::NotFound,
                 fmt::format("there is no event {}.{}", query.id.row, query.id.number));
  }
  return fmt::format(R"({{{},"event":{}}})", kSchema, PL_TRY(event_object(index, *event)));
}

std::vector<bool> matching_names(const Index& index, const Query& query) {
  std::vector<bool> names(index.name_count());
  if (query.name) {
    if (*query.name < names.size()) names[*query.name] = true;
    return names;
  }
  const std::string wanted = lower(query.text);
  for (std::uint32_t name = 0; name < names.size(); ++name) {
    names[name] = lower(index.name(name)).find(wanted) != std::string::npos;
  }
  return names;
}

Result<std::string> find_json(const Index& index, const Query& query) {
  const std::vector<std::size_t> lanes = PL_TRY(lanes_of(index, query));
  std::vector<std::uint32_t> rows;
  for (const std::size_t lane : lanes) {
    const std::vector<std::uint32_t> more = rows_of(index.lanes()[lane]);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  const std::vector<bool> names = matching_names(index, query);
  Total all;
  std::uint64_t different = 0;
  if (std::find(names.begin(), names.end(), true) != names.end()) {
    for (const Total& total : PL_TRY(index.totals(rows, window_of(index, query)))) {
      if (!names[total.name]) continue;
      ++different;
      all.events += total.events;
      all.busy_ns += total.busy_ns;
    }
  }
  const std::optional<Event> event = PL_TRY(index.find(rows, names, query.at_ns, query.direction));
  return fmt::format(R"({{{},"different_names":{},"events":{},"busy_ns":{},"event":{}}})", kSchema,
                     different, all.events, all.busy_ns,
                     event ? PL_TRY(event_object(index, *event)) : std::string("null"));
}

}  // namespace

Result<std::string> answer(const Index& index, std::string_view text) {
  const Query query = PL_TRY(parse_query(text));
  switch (query.what) {
    case Query::What::Capture:
      return capture_json(index);
    case Query::What::Window:
      return window_json(index, query);
    case Query::What::Tile:
      return tile_json(index, query);
    case Query::What::Totals:
      return totals_json(index, query);
    case Query::What::Find:
      return find_json(index, query);
    case Query::What::Event:
      return event_json(index, query);
  }
  return Error(ErrorKind::Config, "there is no such query");
}

}  // namespace profline::tiles
