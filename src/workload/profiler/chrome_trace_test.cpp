#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/temp_dir.h"
#include "workload/profiler/call_tree.h"
#include "workload/profiler/testing_recording.h"

namespace profline::workload {
namespace {

using profiler_test::call;
using profiler_test::kernel;
using profiler_test::memory;
using profiler_test::range;
using profiler_test::recording_of;

Node written(const Recording& recording) {
  const profline::testing::TempDir folder;
  const auto done =
      write_chrome_trace(folder / "trace.json", recording, build_call_tree(recording));
  EXPECT_TRUE(done) << done.error().to_string();
  auto document = parse_json(read_file(folder / "trace.json").value(), "trace.json");
  EXPECT_TRUE(document) << document.error().to_string();
  return document ? std::move(*document) : Node::map();
}

std::vector<const Node*> events_of(const Node& document, std::string_view phase) {
  std::vector<const Node*> events;
  for (const Node& event : document.find("traceEvents")->as_list()) {
    if (event.find("ph")->as_string() == phase) events.push_back(&event);
  }
  return events;
}

TEST(ChromeTrace, HasCompleteEventsInMicroseconds) {
  const std::int64_t begin = 1'794'749'418'102'412'345;  // nanoseconds since 1970
  const Recording recording =
      recording_of({range("prefill", begin, begin + 5'000'001),
                    call("aten::mm", begin + 1'234'567, begin + 2'000'000, 9)},
                   begin, begin + 5'000'001);
  const Node trace = written(recording);
  const auto events = events_of(trace, "X");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0]->find("name")->as_string(), "prefill");
  EXPECT_EQ(events[0]->find("cat")->as_string(), "user_annotation");
  EXPECT_EQ(events[0]->find("ts")->as_float(), 0.0);
  EXPECT_EQ(events[0]->find("dur")->as_float(), 5000.001);
  EXPECT_EQ(events[1]->find("ts")->as_float(), 1234.567);
  EXPECT_EQ(events[1]->find("dur")->as_float(), 765.433);
  EXPECT_EQ(events[1]->find("tid")->as_int(), 1);
  EXPECT_EQ(events[1]->find_path("args.External id")->as_int(), 9);
}

TEST(ChromeTrace, NamesItsTracks) {
  const Recording recording =
      recording_of({call("aten::mm", 0, 10, 1), kernel("gemm", 5, 9, 1)}, 0, 10);
  std::vector<std::string> names;
  const Node trace = written(recording);
  for (const Node* event : events_of(trace, "M")) {
    names.push_back(event->find_path("args.name")->as_string());
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"profline-workload", "thread 1", "GPU 0", "stream 7"}));
}

TEST(ChromeTrace, LeadsFromOperatorsToKernels) {
  const Recording recording = recording_of(
      {call("aten::mm", 0, 10, 1), kernel("gemm", 5, 9, 1), kernel("lost", 5, 9, 0)}, 0, 10);
  const Node trace = written(recording);
  const auto from = events_of(trace, "s");
  const auto to = events_of(trace, "f");
  ASSERT_EQ(from.size(), 1U);
  ASSERT_EQ(to.size(), 1U);
  EXPECT_EQ(from[0]->find("id")->as_int(), to[0]->find("id")->as_int());
  EXPECT_NE(from[0]->find("pid")->as_int(), to[0]->find("pid")->as_int());
}

TEST(ChromeTrace, CountsHeldMemory) {
  const Node trace = written(recording_of({memory(1000, 64), memory(2000, -24)}, 0, 3000));
  const auto events = events_of(trace, "C");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1]->find_path("args.bytes")->as_int(), 40);
}

TEST(ChromeTrace, KeepsHostileNamesAsText) {
  const Node trace = written(recording_of({call("a\"},{\"ph\":\"X\n\x01", 0, 10, 1)}, 0, 10));
  const auto events = events_of(trace, "X");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]->find("name")->as_string(), "a\"},{\"ph\":\"X\n\x01");
}

}  // namespace
}  // namespace profline::workload
