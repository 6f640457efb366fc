#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "testing/captures/zoo.h"
#include "tools/torch_profiler/trace.h"

namespace profline::torch_profiler {
namespace {

using Json = nlohmann::json;

Timeline read_back(std::string_view text) {
  auto timeline = read_trace(chunks_of(text), "t.json");
  EXPECT_TRUE(timeline) << timeline.error().to_string();
  return timeline ? *std::move(timeline) : Timeline();
}

std::string written(const Timeline& timeline) {
  std::string text;
  const auto done = write_chrome_trace(timeline, [&](std::string_view part) -> Result<void> {
    text += part;
    return {};
  });
  EXPECT_TRUE(done) << done.error().to_string();
  return text;
}

void expect_same_rows(const Timeline& again, const Timeline& first) {
  ASSERT_EQ(again.work.size(), first.work.size());
  for (std::size_t i = 0; i < first.work.size(); ++i) {
    EXPECT_EQ(again.work[i].start_ns, first.work[i].start_ns);
    EXPECT_EQ(again.work[i].end_ns, first.work[i].end_ns);
    EXPECT_EQ(again.work[i].launch, first.work[i].launch);
    EXPECT_EQ(again.streams[again.work[i].stream], first.streams[first.work[i].stream]);
  }
  ASSERT_EQ(again.ranges.size(), first.ranges.size());
  for (std::size_t i = 0; i < first.ranges.size(); ++i) {
    EXPECT_EQ(again.names.text(again.ranges[i].name), first.names.text(first.ranges[i].name));
    EXPECT_EQ(again.ranges[i].end_ns, first.ranges[i].end_ns);
    EXPECT_EQ(again.ranges[i].kind, first.ranges[i].kind);
  }
  EXPECT_EQ(again.operators.size(), first.operators.size());
  EXPECT_EQ(again.calls.size(), first.calls.size());
  EXPECT_EQ(again.threads.size(), first.threads.size());
  EXPECT_EQ(again.gpus, first.gpus);
  EXPECT_EQ(again.rank, first.rank);
}

/// An event in the order of Perfetto's importer: by time, then by position in the file.
struct Event {
  std::int64_t at_ns = 0;
  const Json* json = nullptr;
};

std::vector<Event> sorted_events(const Json& trace) {
  std::vector<Event> events;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") continue;
    events.push_back({std::llround(event.at("ts").get<double>() * 1000), &event});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.at_ns < b.at_ns; });
  return events;
}

/// What Perfetto's importer of JSON requires of a trace (src/trace_processor/importers/json, slice
/// and flow trackers); otherwise it silently drops or misplaces events.
class Importer {
 public:
  void take(const Event& event) {
    const Json& json = *event.json;
    const Lane lane{json.at("pid").get<std::int64_t>(), json.at("tid").get<std::int64_t>()};
    EXPECT_TRUE(fits(lane.first) && fits(lane.second)) << json.dump();
    std::vector<std::int64_t>& open = open_[lane];
    while (!open.empty() && open.back() <= event.at_ns && !is_arrow(json)) open.pop_back();
    const std::string phase = json.at("ph");
    if (phase == "X") {
      const std::int64_t end_ns = event.at_ns + std::llround(json.at("dur").get<double>() * 1000);
      EXPECT_TRUE(open.empty() || end_ns <= open.back()) << "not nested: " << json.dump();
      open.push_back(end_ns);
      ++slices;
    } else if (is_arrow(json)) {
      EXPECT_FALSE(open.empty()) << "an arrow at no slice: " << json.dump();
      const auto id = json.at("id").get<std::int64_t>();
      if (phase == "s") arrows_.insert(id);
      EXPECT_TRUE(arrows_.contains(id)) << "an arrow from nowhere: " << json.dump();
      if (phase == "f") ++arrows;
    }
  }

  std::size_t slices = 0;
  std::size_t arrows = 0;

 private:
  using Lane = std::pair<std::int64_t, std::int64_t>;
  static bool fits(std::int64_t number) { return number >= 0 && number <= 0xFFFFFFFF; }
  static bool is_arrow(const Json& json) { return json.at("cat") == "ac2g"; }

  std::map<Lane, std::vector<std::int64_t>> open_;
  std::set<std::int64_t> arrows_;
};

Importer imported(const std::string& text) {
  const Json trace = Json::parse(text);
  Importer importer;
  for (const Event& event : sorted_events(trace)) importer.take(event);
  return importer;
}

// A thread whose number has 48 bits, and kernels of one stream that overlap.
constexpr std::string_view kCrowded = R"json({"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 140737353971456, "ts": 1, "dur": 9},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 140737353971456, "ts": 2, "dur": 1, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 140737353971456, "ts": 4, "dur": 1, "args": {"correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 5, "dur": 1, "args": {"correlation": 3}},
{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 6, "dur": 4, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 8, "dur": 4, "args": {"device": 0, "stream": 7, "correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "ts": 10, "dur": 1, "args": {"device": 0, "stream": 7, "correlation": 3}}]})json";

constexpr std::string_view kAsynchronous = R"json([
{"ph":"b","cat":"req","id":"0x1","name":"request \"1\"\n","pid":1,"tid":1,"ts":1},
{"ph":"e","cat":"req","id":"0x1","name":"request","pid":1,"tid":2,"ts":8}])json";

TEST(TraceWriter, WritesWhatReadsBackAsTheSameRows) {
  const auto zoo = testing::unzipped(testing::zoo_capture("kineto.json.gz"));
  ASSERT_TRUE(zoo) << zoo.error().to_string();
  for (const std::string_view text : {kCrowded, kAsynchronous, std::string_view(*zoo)}) {
    const Timeline first = read_back(text);
    expect_same_rows(read_back(written(first)), first);
  }
}

TEST(TraceWriter, PutsWhatOverlapsIntoLanesBesideEachOther) {
  const Json trace = Json::parse(written(read_back(kCrowded)));
  std::map<std::string, std::int64_t> lanes;
  std::map<std::int64_t, std::string> names;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.value("cat", "") == "kernel") lanes[event.at("name")] = event.at("tid");
    if (event.at("name") == "thread_name") names[event.at("tid")] = event.at("args").at("name");
  }
  EXPECT_EQ(lanes, (std::map<std::string, std::int64_t>{{"a", 7}, {"b", 1'000'007}, {"c", 7}}));
  EXPECT_EQ(names[7], "stream 7");
  EXPECT_EQ(names[1'000'007], "stream 7, what overlaps");
}

TEST(TraceWriter, KeepsToWhatPerfettosImporterAsksFor) {
  const Importer crowded = imported(written(read_back(kCrowded)));
  EXPECT_EQ(crowded.slices, 7U);
  EXPECT_EQ(crowded.arrows, 3U);
  const auto zoo = testing::unzipped(testing::zoo_capture("kineto.json.gz"));
  ASSERT_TRUE(zoo) << zoo.error().to_string();
  const Importer whole = imported(written(read_back(*zoo)));
  EXPECT_EQ(whole.slices, 1558U);
  EXPECT_EQ(whole.arrows, 610U);
}

}  // namespace
}  // namespace profline::torch_profiler
