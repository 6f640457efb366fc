#include "tiles/index.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/captures/zoo.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"
#include "tiles/build.h"
#include "tiles/testing_captures.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/torch_profiler/trace.h"

namespace profline::tiles {
namespace {

/// Lane, name, start from the capture's beginning, duration.
using Row = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;

std::vector<Event> all_events(const Index& index, std::uint32_t row) {
  // So many pixels that there is one for each event.
  const auto part = index.part(row, {0, index.facts().length_ns + 1}, 1'000'000);
  EXPECT_TRUE(part && part->events.size() == index.event_count(row));
  return part ? part->events : std::vector<Event>();
}

std::multiset<Row> rows_of_index(const Index& index) {
  std::multiset<Row> rows;
  for (const Lane& lane : index.lanes()) {
    for (std::uint32_t depth = 0; depth < lane.rows; ++depth) {
      const std::uint32_t row = lane.first_row + depth;
      std::int64_t busy_until = 0;
      for (const Event& event : all_events(index, row)) {
        EXPECT_GE(event.start_ns, busy_until) << "events of a row overlap";
        busy_until = event.end_ns;
        rows.emplace(std::string(to_text(lane.kind)) + " " + lane.name, index.name(event.name),
                     event.start_ns, event.end_ns - event.start_ns);
      }
    }
  }
  return rows;
}

std::multiset<Row> rows_of_capture(const std::filesystem::path& capture) {
  const auto timeline = nsys::read_sqlite(capture);
  std::multiset<Row> rows;
  if (!timeline) {
    ADD_FAILURE() << timeline.error().to_string();
    return rows;
  }
  const auto add = [&](const std::string& lane, const auto& row) {
    rows.emplace(lane, timeline->names.text(row.name), row.start_ns - timeline->begin_ns,
                 row.end_ns - row.start_ns);
  };
  for (const DeviceWork& work : timeline->work) {
    const std::string stream = "stream " + std::to_string(timeline->streams[work.stream].stream);
    const bool is_copy = work.kind == WorkKind::Copy || work.kind == WorkKind::Fill;
    add(is_copy ? "copies " + stream + " copies" : "work " + stream, work);
  }
  for (const HostCall& call : timeline->calls) add("calls calls", call);
  for (const Range& range : timeline->ranges) {
    add(range.kind == RangeKind::PushPop ? "ranges ranges" : "shared ranges shared ranges", range);
  }
  return rows;
}

/// Builds the index of a capture with a sort that does not fit into its memory.
Result<Index> index_of(const std::filesystem::path& capture, const testing::TempDir& folder) {
  const std::filesystem::path file = folder / "x.tiles";
  PL_TRY(build_index(capture, file, "this", {.events_in_memory = 1000}));
  return Index::open(file, "this");
}

/// The bins of a row, from the definition.
std::vector<Bin> expected_bins(const std::vector<Event>& events, std::uint32_t level,
                               std::int64_t first, std::int64_t last) {
  struct Sum {
    Bin bin;
    std::map<std::uint32_t, std::int64_t> names;
  };
  std::map<std::int64_t, Sum> sums;
  for (const Event& event : events) {
    if (!touches({first << level, (last + 1) << level}, event.start_ns, event.end_ns)) continue;
    const std::int64_t end = std::max(event.end_ns, event.start_ns + 1);
    const std::int64_t begin_bin = std::max(event.start_ns >> level, first);
    const std::int64_t end_bin = std::min((end - 1) >> level, last);
    for (std::int64_t at = begin_bin; at <= end_bin; ++at) {
      const Window window{at << level, (at + 1) << level};
      const std::int64_t inside = std::max<std::int64_t>(
          std::min(event.end_ns, window.to_ns) - std::max(event.start_ns, window.from_ns), 0);
      Sum& sum = sums[at];
      sum.bin.index = at;
      sum.bin.busy_ns += inside;
      sum.names[event.name] += inside;
      if (event.start_ns >= window.from_ns) ++sum.bin.events;
    }
  }
  std::vector<Bin> bins;
  for (auto& [at, sum] : sums) {
    sum.bin.name_ns = -1;
    for (const auto& [name, ns] : sum.names) {
      if (ns <= sum.bin.name_ns) continue;
      sum.bin.name = name;
      sum.bin.name_ns = ns;
    }
    bins.push_back(sum.bin);
  }
  return bins;
}

void expect_bins_of_every_level(const Index& index) {
  std::mt19937_64 random(3);
  for (std::uint32_t row = 0; index.place(row); ++row) {
    const std::vector<Event> events = all_events(index, row);
    ASSERT_FALSE(events.empty());
    for (std::uint32_t level = 0; level < 40; ++level) {
      SCOPED_TRACE("row " + std::to_string(row) + ", level " + std::to_string(level));
      const std::int64_t bins = (index.facts().length_ns >> level) + 1;
      // Around an event, because most of the time nothing happens.
      const Event& some = events[random() % events.size()];
      const std::int64_t first = std::max<std::int64_t>((some.start_ns >> level) - 300, 0);
      const std::int64_t last = std::min(first + 700, bins);
      const auto found = index.bins(row, level, first, last);
      ASSERT_TRUE(found) << found.error().to_string();
      ASSERT_EQ(*found, expected_bins(events, level, first, last));
    }
  }
}

void expect_totals_of_windows(const Index& index) {
  std::mt19937_64 random(5);
  for (const Lane& lane : index.lanes()) {
    std::vector<std::uint32_t> rows;
    std::vector<Event> events;
    std::map<std::uint32_t, std::vector<Event>> of_row;
    for (std::uint32_t depth = 0; depth < lane.rows; ++depth) {
      rows.push_back(lane.first_row + depth);
      of_row[rows.back()] = all_events(index, rows.back());
      events.insert(events.end(), of_row[rows.back()].begin(), of_row[rows.back()].end());
    }
    for (int round = 0; round < 40; ++round) {
      const auto length = static_cast<std::uint64_t>(index.facts().length_ns) >> (random() % 40);
      const auto from = static_cast<std::int64_t>(
          random() % static_cast<std::uint64_t>(index.facts().length_ns + 1));
      const Window window{from, from + 1 + static_cast<std::int64_t>(length)};
      SCOPED_TRACE(lane.name + " " + std::to_string(window.from_ns) + " to " +
                   std::to_string(window.to_ns));
      std::map<std::uint32_t, Total> sums;
      for (const Event& event : events) {
        if (!touches(window, event.start_ns, event.end_ns)) continue;
        Total& sum = sums[event.name];
        sum.name = event.name;
        ++sum.events;
        sum.busy_ns +=
            std::min(event.end_ns, window.to_ns) - std::max(event.start_ns, window.from_ns);
      }
      std::vector<Total> expected;
      for (const auto& [name, sum] : sums) expected.push_back(sum);
      const auto totals = index.totals(rows, window);
      ASSERT_TRUE(totals) << totals.error().to_string();
      ASSERT_EQ(*totals, expected);
      for (const std::uint32_t row : rows) {
        const auto part = index.part(row, window, 400);
        ASSERT_TRUE(part) << part.error().to_string();
        const auto touching = static_cast<std::uint64_t>(std::count_if(
            of_row[row].begin(), of_row[row].end(),
            [&](const Event& event) { return touches(window, event.start_ns, event.end_ns); }));
        ASSERT_EQ(part->touching, touching);
        if (part->bins.empty()) {
          ASSERT_EQ(part->events.size(), touching);
        } else {
          ASSERT_GT(touching, 200U);
          ASSERT_LE(part->bins.size(), 401U);
        }
      }
    }
  }
}

void expect_found_events(const Index& index) {
  std::mt19937_64 random(7);
  std::vector<std::uint32_t> rows;
  std::vector<Event> events;
  for (std::uint32_t row = 0; index.place(row); ++row) {
    rows.push_back(row);
    const std::vector<Event> more = all_events(index, row);
    events.insert(events.end(), more.begin(), more.end());
  }
  for (int round = 0; round < 100; ++round) {
    std::vector<bool> names(index.name_count());
    names[events[random() % events.size()].name] = true;
    const std::int64_t at =
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(index.facts().length_ns));
    std::optional<std::int64_t> next;
    std::optional<std::int64_t> previous;
    for (const Event& event : events) {
      if (!names[event.name]) continue;
      if (event.start_ns > at) next = std::min(event.start_ns, next.value_or(event.start_ns));
      if (event.start_ns < at)
        previous = std::max(event.start_ns, previous.value_or(event.start_ns));
    }
    const auto start_of = [&](Index::Direction direction) -> std::optional<std::int64_t> {
      const auto found = index.find(rows, names, at, direction);
      EXPECT_TRUE(found);
      if (!found || !*found) return std::nullopt;
      EXPECT_TRUE(names[(*found)->name]);
      return (*found)->start_ns;
    };
    ASSERT_EQ(start_of(Index::Direction::Next), next);
    ASSERT_EQ(start_of(Index::Direction::Previous), previous);
  }
}

TEST(TilesIndex, HasEveryEventOnceAndSumsAreExactAtEveryLevel) {
  for (const std::uint32_t seed : {1U, 2U}) {
    SCOPED_TRACE(seed);
    const testing::TempDir folder;
    write_capture(folder / "x.sqlite", irregular_events(seed, 10'000));
    const auto index = index_of(folder / "x.sqlite", folder);
    ASSERT_TRUE(index) << index.error().to_string();
    EXPECT_EQ(rows_of_index(*index), rows_of_capture(folder / "x.sqlite"));
    EXPECT_EQ(index->facts().events, 10'000U);
    expect_bins_of_every_level(*index);
    expect_totals_of_windows(*index);
    expect_found_events(*index);
  }
}

// Enough kernels for all levels of totals and of bins.
TEST(TilesIndex, IsExactForADecodingLoop) {
  const testing::TempDir folder;
  ASSERT_TRUE(testing::write_decode_loop(folder / "x.sqlite", {.kernels = 20'000}));
  const auto index = index_of(folder / "x.sqlite", folder);
  ASSERT_TRUE(index) << index.error().to_string();
  EXPECT_EQ(rows_of_index(*index), rows_of_capture(folder / "x.sqlite"));
  expect_bins_of_every_level(*index);
  expect_totals_of_windows(*index);
  std::vector<std::string> lanes;
  for (const Lane& lane : index->lanes()) {
    lanes.push_back(lane.group + ": " + lane.name + ", " + std::to_string(lane.rows));
  }
  EXPECT_EQ(lanes, (std::vector<std::string>{
                       "GPU 0 NVIDIA H200: stream 7, 1", "GPU 0 NVIDIA H200: stream 7 copies, 1",
                       "thread 4711 decoder: ranges, 3", "thread 4711 decoder: calls, 1"}));
}

void expect_facts(const Result<Index>& index, const Result<Timeline>& timeline) {
  ASSERT_TRUE(index) << index.error().to_string();
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  EXPECT_EQ(index->facts().events, timeline->work.size() + timeline->calls.size() +
                                       timeline->ranges.size() + timeline->operators.size());
  EXPECT_EQ(index->facts().origin_ns, timeline->begin_ns);
  EXPECT_EQ(index->facts().length_ns, timeline->end_ns - timeline->begin_ns);
  std::size_t rows = 0;
  for (const Lane& lane : index->lanes()) rows += lane.events;
  EXPECT_EQ(rows, index->facts().events);
}

TEST(TilesIndex, ReadsRecordedCaptures) {
  const auto golden = testing::source_dir() / "tests/golden";
  for (const char* name :
       {"nsys/2025.3-decode/input.sqlite", "nsys-node.sqlite.gz", "nsys-graph.sqlite.gz"}) {
    SCOPED_TRACE(name);
    const testing::TempDir folder;
    auto capture = golden / name;
    if (capture.extension() == ".gz") {
      capture = folder / "x.sqlite";
      ASSERT_TRUE(
          write_file_atomic(capture, testing::unzipped(testing::zoo_capture(name)).value()));
    }
    expect_facts(index_of(capture, folder), nsys::read_sqlite(capture));
  }
  const testing::TempDir folder;
  const auto capture = testing::zoo_capture("kineto.json.gz");
  const auto index = index_of(capture, folder);
  expect_facts(index, torch_profiler::read_trace(capture));
  std::set<std::string> kinds;
  for (const Lane& lane : index->lanes()) kinds.emplace(to_text(lane.kind));
  EXPECT_EQ(kinds, (std::set<std::string>{"calls", "copies", "operators", "ranges", "work"}));
}

TEST(TilesIndex, ARangeThatIsStillOpenEndsWithTheCapture) {
  const testing::TempDir folder;
  write_capture(folder / "x.sqlite", {{MadeEvent::Table::Kernel, 100, 900}});
  {
    auto database = sqlite::Database::open_read_write(folder / "x.sqlite", sqlite::Create::No);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute(
        "INSERT INTO NVTX_EVENTS (start, eventType, globalTid, text, domainId) VALUES "
        "(200, 59, " +
        std::to_string(testing::nsys_global_tid(4711, 7)) + ", 'open', 0)"));
  }
  const auto index = index_of(folder / "x.sqlite", folder);
  ASSERT_TRUE(index) << index.error().to_string();
  EXPECT_EQ(rows_of_index(*index), rows_of_capture(folder / "x.sqlite"));
  EXPECT_EQ(index->facts().notes,
            (std::vector<std::string>{
                "1 range was still open when the capture ended: counted up to its last event"}));
}

TEST(TilesIndex, CountsEventsThatOverlapTooDeeply) {
  const testing::TempDir folder;
  std::vector<MadeEvent> events;
  for (int at = 0; at < 70; ++at) {
    events.push_back({MadeEvent::Table::Range, 1000 + at, 900'000 - at});
  }
  write_capture(folder / "x.sqlite", events);
  const auto index = index_of(folder / "x.sqlite", folder);
  ASSERT_TRUE(index) << index.error().to_string();
  EXPECT_EQ(index->lanes()[0].rows, 64U);
  EXPECT_EQ(index->facts().notes,
            (std::vector<std::string>{
                "6 events are not in the timeline: more than 64 overlapped in one lane"}));
}

TEST(TilesIndex, ACaptureWithoutEventsHasNoLanes) {
  const testing::TempDir folder;
  write_capture(folder / "x.sqlite", {});
  const auto index = index_of(folder / "x.sqlite", folder);
  ASSERT_TRUE(index) << index.error().to_string();
  EXPECT_TRUE(index->lanes().empty());
  EXPECT_EQ(index->facts().length_ns, 0);
}

TEST(TilesIndex, RefusesWhatIsNotACapture) {
  const testing::TempDir folder;
  {
    auto database = sqlite::Database::open_read_write(folder / "x.sqlite", sqlite::Create::Yes);
    ASSERT_TRUE(database && database->execute("CREATE TABLE t (a)"));
  }
  const auto index = index_of(folder / "x.sqlite", folder);
  ASSERT_FALSE(index);
  EXPECT_EQ(index.error().to_string(),
            (folder / "x.sqlite").string() +
                ": is an SQLite database, but not one that 'nsys export --type sqlite' made: it "
                "has neither StringIds nor any table of events");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.tiles"));
}

TEST(TilesIndex, CanBeStopped) {
  const testing::TempDir folder;
  write_capture(folder / "x.sqlite", irregular_events(1, 100));
  const auto built = build_index(folder / "x.sqlite", folder / "x.tiles", "this",
                                 {.keep_going = [](std::uint64_t) { return false; }});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().kind(), ErrorKind::Cancelled);
  EXPECT_FALSE(std::filesystem::exists(folder / "x.tiles"));
}

}  // namespace
}  // namespace profline::tiles
