#include "tools/torch_profiler/internal/scan_ahead.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/captures/generated_trace.h"
#include "tools/torch_profiler/trace.h"

namespace profline::torch_profiler {
namespace {

using ::testing::ElementsAreArray;

constexpr std::size_t kWindowBytes = 1024;

/// Everything that reading a trace results in, with names as text.
struct Outcome {
  std::string error;
  Timeline timeline;
};

Outcome read_with(unsigned threads, std::size_t block_bytes, ChunkSource source) {
  auto timeline = read_trace(std::move(source), "t.json",
                             {.window_bytes = kWindowBytes,
                              .max_event_bytes = 40'000,
                              .threads = threads,
                              .bytes_before_threads = 100,
                              .block_bytes = block_bytes});
  if (!timeline) return {timeline.error().to_string(), {}};
  return {"", *std::move(timeline)};
}

std::vector<std::string> texts(const Names& names) {
  std::vector<std::string> all;
  for (Names::Id id = 0; id < names.size(); ++id) all.push_back(names.text(id));
  return all;
}

std::vector<std::string> lines_of(const Reading& reading) {
  std::vector<std::string> lines = {std::to_string(reading.used)};
  for (const Reading::Skipped& entry : reading.skipped) {
    lines.push_back(entry.reason + " x" + std::to_string(entry.count) + " at " +
                    entry.first_position);
  }
  lines.insert(lines.end(), reading.notes.begin(), reading.notes.end());
  lines.insert(lines.end(), reading.losses.begin(), reading.losses.end());
  return lines;
}

void expect_same(const Outcome& found, const Outcome& expected) {
  EXPECT_EQ(found.error, expected.error);
  const Timeline& a = found.timeline;
  const Timeline& b = expected.timeline;
  EXPECT_EQ(a.begin_ns, b.begin_ns);
  EXPECT_EQ(a.end_ns, b.end_ns);
  EXPECT_THAT(texts(a.names), ElementsAreArray(texts(b.names)));
  EXPECT_THAT(lines_of(a.reading), ElementsAreArray(lines_of(b.reading)));
  EXPECT_TRUE(a.work == b.work);
  EXPECT_TRUE(a.calls == b.calls);
  EXPECT_TRUE(a.operators == b.operators);
  EXPECT_TRUE(a.ranges == b.ranges);
  EXPECT_TRUE(a.threads == b.threads);
  EXPECT_TRUE(a.streams == b.streams);
  EXPECT_TRUE(a.shapes == b.shapes);
}

std::string generated(std::uint64_t events) {
  std::string text;
  const auto made = testing::generate_trace(events, [&](std::string_view part) {
    text += part;
    return Result<void>();
  });
  EXPECT_TRUE(made);
  return text;
}

std::string event(const std::string& name, const std::string& args = "{}") {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name +
         R"(", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "args": )" + args + "}";
}

std::string list_of(const std::vector<std::string>& events, const std::string& between = ",\n") {
  std::string text =
      R"({"deviceProperties": [{"id": 0, "name": "G"}, {"id": 1}], "traceEvents": [)";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "" : between) + events[i];
  return text + "]}";
}

struct Case {
  std::string name, text;
};

std::vector<Case> cases() {
  std::vector<std::string> plain;
  for (int i = 0; i < 200; ++i) plain.push_back(event("op" + std::to_string(i % 7)));
  std::vector<Case> all = {
      {"generated", generated(3000)},
      {"plain", list_of(plain)},
      {"no blanks", list_of(plain, ",")},
      {"cut off inside an event", list_of(plain).substr(0, 9000)},
      {"cut off between events", list_of(plain).substr(0, list_of(plain).rfind(',') + 1)},
      {"the list alone", '[' + event("a") + ',' + event("b") + ']'},
  };
  std::string lines;
  for (const std::string& line : plain) lines += line + '\n';
  all.push_back({"one event per line", lines});

  std::vector<std::string> odd = plain;
  odd[10] = event("}, {\\\"ph\\\": \\\"X\\\"}, {");  // looks like the end of an event
  odd[20] = event("lists", R"({"inner": [{"a": 1}, {"ph": "X", "ts": 1, "dur": 1}, {"b": 2}]})");
  odd[30] = "17";                           // no map
  odd[40] = R"({"ph" "X"})";                // not JSON
  odd[50] = "";                             // missing
  odd[60] = event(std::string(3000, 'n'));  // larger than the window
  odd[70] = event("deep", std::string(500, '[') + std::string(500, ']'));
  odd[80] = R"({"ph": "X", "name": "no time"})";
  all.push_back({"odd events", list_of(odd)});
  odd[90] = event(std::string(50'000, 'n'));  // larger than the limit
  all.push_back({"too large an event", list_of(odd)});

  std::string guesses;
  for (int i = 0; i < 500; ++i) guesses += "},{";
  odd[90] = event(guesses);
  all.push_back({"many wrong guesses", list_of(odd)});
  return all;
}

TEST(ScanAhead, TheNumberOfThreadsChangesNothing) {
  for (const Case& c : cases()) {
    const Outcome alone = read_with(1, 1, chunks_of(c.text));
    for (const unsigned threads : {2U, 3U, 6U}) {
      for (const std::size_t block_bytes : {7U, 64U, 1000U, 100'000U}) {
        SCOPED_TRACE(c.name + ", " + std::to_string(threads) + " threads, blocks of " +
                     std::to_string(block_bytes));
        expect_same(read_with(threads, block_bytes, chunks_of(c.text)), alone);
      }
    }
  }
}

TEST(ScanAhead, AnErrorOfTheSourceEndsTheReadingAtTheSamePlace) {
  const std::string text = generated(500);
  for (const std::size_t good : {std::size_t{0}, std::size_t{50}, text.size() / 2}) {
    const auto failing = [&] {
      return ChunkSource([left = std::string_view(text).substr(0, good)](
                             std::span<char> into) mutable -> Result<std::size_t> {
        if (left.empty()) return Error(ErrorKind::Io, "the disk is gone");
        const std::size_t bytes = left.copy(into.data(), std::min<std::size_t>(into.size(), 300));
        left.remove_prefix(bytes);
        return bytes;
      });
    };
    expect_same(read_with(3, 512, failing()), read_with(1, 1, failing()));
  }
}

TEST(ScanAhead, OtherThreadsScanEvents) {
  const std::string text = generated(20'000);
  std::uint64_t ahead = 0;
  // How far they come depends on the machine; that they never come anywhere does not.
  for (int round = 0; round < 100 && ahead == 0; ++round) {
    internal::ScanAhead scan(
        chunks_of(text),
        {.threads = 1, .window_bytes = 4096, .block_bytes = 4096, .bytes_before = 0});
    JsonStreamHandlers handlers;
    handlers.take = [&scan](std::string_view part, std::uint64_t offset) {
      const internal::RawEvent* event = nullptr;
      return scan.scan(part, offset, event);
    };
    handlers.element = [](const JsonView&, std::uint64_t) { return Result<void>(); };
    ASSERT_TRUE(read_json_list([&scan](std::span<char> into) { return scan.read(into); },
                               "traceEvents", handlers, {.window_bytes = 4096}));
    ahead = scan.ahead();
  }
  EXPECT_GT(ahead, 0U);
}

}  // namespace
}  // namespace profline::torch_profiler
