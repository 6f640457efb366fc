#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/captures/generated_trace.h"
#include "tools/torch_profiler/trace.h"

namespace profline::torch_profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Timeline read_text(std::string_view text, const TraceLimits& limits = {}) {
  auto timeline = read_trace(chunks_of(text), "t.json", limits);
  EXPECT_TRUE(timeline) << timeline.error().to_string();
  return timeline ? *std::move(timeline) : Timeline();
}

/// One line per reason: `skipped reason x2 at byte 1`.
std::vector<std::string> skipped(const Timeline& timeline) {
  std::vector<std::string> lines;
  for (const Reading::Skipped& entry : timeline.reading.skipped) {
    lines.push_back(entry.reason + " x" + std::to_string(entry.count) + " at " +
                    entry.first_position);
  }
  return lines;
}

constexpr std::string_view kSmall = R"json({"traceName": "x", "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "decode", "pid": 9, "tid": 9, "ts": 100.000, "dur": 90.5, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 110.001, "dur": 20, "args": {"External id": 2, "Input Dims": [[1, 64], [64, 64]]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 115, "dur": 5, "args": {"correlation": 14, "External id": 2}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 130.250, "dur": 3.125, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 14, "grid": [4, 27, 1], "block": [384, 1, 1], "registers per thread": 168, "shared memory": 100}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pinned)", "pid": 0, "tid": 7, "ts": 140, "dur": 1, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 15, "bytes": 4096}},
{"ph": "X", "cat": "user_annotation", "name": "step", "pid": 9, "tid": 9, "ts": 105, "dur": 80},
{"ph": "M", "name": "thread_name", "pid": 9, "tid": 9, "args": {"name": "main"}},
{"ph": "s", "id": 14, "pid": 9, "tid": 9, "ts": 115, "cat": "ac2g", "name": "ac2g"}
], "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
"distributedInfo": {"rank": 3, "world_size": 8}, "baseTimeNanoseconds": 1790857026000000000})json";

TEST(TraceReader, MakesRowsAndLinksThem) {
  const Timeline t = read_text(kSmall);
  ASSERT_EQ(t.operators.size(), 2U);
  EXPECT_EQ(t.operators[0].start_ns, 0);
  EXPECT_EQ(t.operators[0].end_ns, 90'500);
  EXPECT_EQ(t.names.text(t.operators[1].input_shapes), "[[1, 64], [64, 64]]");
  ASSERT_EQ(t.calls.size(), 1U);
  EXPECT_EQ(t.calls[0].kind, CallKind::Launch);
  EXPECT_EQ(t.calls[0].op, 1U);
  EXPECT_EQ(t.names.text(t.threads[t.calls[0].thread].name), "main");
  ASSERT_EQ(t.work.size(), 2U);
  EXPECT_EQ(t.work[0].start_ns, 30'250);
  EXPECT_EQ(t.work[0].end_ns, 33'375);
  EXPECT_EQ(t.work[0].launch, 0U);
  EXPECT_EQ(t.streams[t.work[0].stream], (Stream{0, 1, 7}));
  EXPECT_EQ(t.shapes[t.work[0].shape], (LaunchShape{{4, 27, 1}, {384, 1, 1}, 168, 0, 100}));
  EXPECT_EQ(t.work[1].kind, WorkKind::Copy);
  EXPECT_EQ(t.work[1].copy, CopyKind::DeviceToHost);
  EXPECT_EQ(t.work[1].bytes, 4096U);
  EXPECT_EQ(t.work[1].launch, kNoRow);
  // The annotation, and the operator that is the program's own scope.
  ASSERT_EQ(t.ranges.size(), 2U);
  EXPECT_EQ(t.names.text(t.ranges[0].name), "decode");
  EXPECT_EQ(t.names.text(t.ranges[1].name), "step");
  EXPECT_EQ(t.end_ns, 90'500);
  EXPECT_EQ(t.unix_origin_ns, 1790857026000100000);
  EXPECT_EQ(t.rank, 3);
  EXPECT_EQ(t.world_size, 8);
  EXPECT_EQ(t.gpus, (std::vector<Gpu>{{0, "NVIDIA H200", "", 150109880320, 132, "9.0"}}));
  EXPECT_EQ(t.reading.used, 7U);
  EXPECT_EQ(t.reading.events(), 8U);
  EXPECT_THAT(t.reading.notes,
              ElementsAre("1 piece of device work without a record of the launch"));
}

TEST(TraceReader, ReadsTheSameWhateverTheWindow) {
  const Timeline whole = read_text(kSmall);
  for (const std::size_t window : {1U, 7U, 100U, 1000U}) {
    const Timeline t = read_text(kSmall, {.window_bytes = window});
    EXPECT_EQ(t.work, whole.work);
    EXPECT_EQ(t.calls, whole.calls);
    EXPECT_EQ(t.operators, whole.operators);
    EXPECT_EQ(t.ranges, whole.ranges);
    EXPECT_EQ(t.reading, whole.reading);
  }
}

// The nodes of a CUDA graph have the correlation of the call that launched it.
TEST(TraceReader, LinksTheNodesOfAGraphToItsLaunch) {
  const Timeline t = read_text(R"([
{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":0,"dur":5,"args":{"correlation":77}},
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":10,"dur":1,"args":{"stream":7,"correlation":77,"graph node id":4294967297,"graph id":1}},
{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":12,"dur":1,"args":{"stream":7,"correlation":77,"graph node id":4294967298,"graph id":1}}])");
  ASSERT_EQ(t.work.size(), 2U);
  EXPECT_EQ(t.calls[0].kind, CallKind::GraphLaunch);
  for (const DeviceWork& work : t.work) EXPECT_EQ(work.launch, 0U);
  EXPECT_EQ(t.work[1].graph_node, 4294967298U);
}

// As in ROCm's tracer: shapes and sizes with the call, streams in hexadecimal.
TEST(TraceReader, TakesShapesFromTheCallWhereOnlyThatHasThem) {
  const Timeline t = read_text(R"([
{"ph":"X","cat":"hip_runtime","name":"hipModuleLaunchKernel","pid":1,"tid":1,"ts":0,"dur":5,"args":{"correlation":"7","stream":"0x0","grid":[8,1,1],"block":[256,1,1]}},
{"ph":"X","cat":"cuda_runtime","name":"hipMemcpyAsync","pid":1,"tid":1,"ts":6,"dur":5,"args":{"correlation":8,"size":"2560"}},
{"ph":"X","cat":"kernel","name":"k","pid":2,"tid":0,"ts":10,"dur":1,"args":{"device":2,"stream":0,"correlation":7,"kind":"Dispatch"}},
{"ph":"X","cat":"gpu_memcpy","name":"CopyHostToDevice","pid":2,"tid":0,"ts":12,"dur":1,"args":{"device":2,"stream":0,"correlation":8}}])");
  ASSERT_EQ(t.work.size(), 2U);
  EXPECT_EQ(t.calls[0].kind, CallKind::Launch);
  ASSERT_NE(t.work[0].shape, kNoRow);
  EXPECT_EQ(t.shapes[t.work[0].shape].block[0], 256U);
  EXPECT_EQ(t.work[1].bytes, 2560U);
  EXPECT_EQ(t.work[1].copy, CopyKind::HostToDevice);
  EXPECT_EQ(t.streams[t.work[0].stream].device, 2);
}

TEST(TraceReader, PairsBeginsWithEnds) {
  const Timeline t = read_text(R"([
{"ph":"B","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":0},
{"ph":"B","cat":"cpu_op","name":"aten::b","pid":1,"tid":1,"ts":2},
{"ph":"E","pid":1,"tid":1,"ts":5},
{"ph":"E","pid":1,"tid":1,"ts":9},
{"ph":"E","pid":1,"tid":1,"ts":10},
{"ph":"b","cat":"req","id":"0x1","name":"request","pid":1,"tid":1,"ts":1},
{"ph":"e","cat":"req","id":"0x1","name":"request","pid":1,"tid":2,"ts":8},
{"ph":"b","cat":"req","id":"0x2","name":"open","pid":1,"tid":1,"ts":3},
{"ph":"B","cat":"cpu_op","name":"aten::lost","pid":1,"tid":1,"ts":4},
{"ph":"n","cat":"req","id":"0x1","name":"mark","pid":1,"tid":1,"ts":3},
{"ph":"C","name":"memory","pid":1,"ts":3,"args":{"bytes":1}}])");
  ASSERT_EQ(t.operators.size(), 2U);
  EXPECT_EQ(t.operators[0].end_ns, 9'000);
  EXPECT_EQ(t.operators[1].end_ns, 5'000);
  ASSERT_EQ(t.ranges.size(), 2U);
  EXPECT_EQ(t.ranges[0].kind, RangeKind::StartEnd);
  EXPECT_EQ(t.ranges[0].duration_ns(), 7'000);
  EXPECT_NE(t.ranges[0].end_thread, t.ranges[0].thread);
  EXPECT_FALSE(t.ranges[1].closed);
  EXPECT_EQ(t.ranges[1].end_ns, t.end_ns);
  EXPECT_EQ(t.reading.used, 7U);
  EXPECT_THAT(skipped(t),
              ElementsAre("an end without a begin x1 at byte 206", "instant event x1 at byte 534",
                          "counter x1 at byte 606", "begun and never ended x1 at byte 464"));
}

struct Dirt {
  std::string_view name, text;
  std::uint64_t used;
  std::vector<std::string> skipped;
  std::vector<std::string> notes;
  std::vector<std::string> losses;
};

const std::vector<Dirt>& dirt() {
  static const std::vector<Dirt> cases = {
      {"a list that is not closed",
       R"([{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":1,"dur":1},)",
       1,
       {},
       {"the list of events is not closed: what follows it, if anything, is missing"},
       {}},
      {"torn inside an event",
       R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":1,"dur":1},{"ph":"X","na)",
       1,
       {},
       {},
       {"the trace ends at byte 103, inside what begins at byte 90: the rest is missing"}},
      {"junk after the end",
       R"([{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":1,"dur":1}] 2)",
       1,
       {},
       {},
       {"reading stopped: byte 76: expected nothing after the last bracket"}},
      {"not a number",
       R"([{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":NaN,"dur":1},{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":1,"dur":Infinity}])",
       0,
       {"start time ('ts') is not a number x1 at byte 1",
        "duration ('dur') is not a number x1 at byte 77"},
       {},
       {}},
      {"no time at all",
       R"([{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"dur":1},{"ph":"X","cat":"cpu_op","name":"aten::a","ts":1}])",
       0,
       {"no start time ('ts') x1 at byte 1", "no duration ('dur') x1 at byte 68"},
       {},
       {}},
      {"negative duration",
       R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":-1,"args":{}}])",
       0,
       {"negative duration x1 at byte 1"},
       {},
       {}},
      {"numbers in quotes",
       R"([{"ph":"X","cat":"cpu_op","name":"aten::a","pid":"1","tid":"1","ts":"1.5","dur":1,"args":{"External id":"12"}}])",
       1,
       {},
       {"2 numbers stand in quotes: read as numbers"},
       {}},
      {"a key twice",
       R"([{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":1,"ts":2,"dur":1}])",
       1,
       {},
       {"1 event has a key twice: the last value counts"},
       {}},
      {"invalid escapes",
       R"([{"ph":"X","cat":"cpu_op","name":"aten::C:\temp\q","pid":1,"tid":1,"ts":1,"dur":1}])",
       1,
       {},
       {"1 name has invalid escapes: kept as written"},
       {}},
      {"invalid UTF-8",
       "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::\xff\",\"pid\":1,\"tid\":1,\"ts\":1,"
       "\"dur\":1}]",
       1,
       {},
       {"1 name is not valid UTF-8: kept as written"},
       {}},
      {"no args, no stream",
       R"([{"ph":"X","cat":"kernel","name":"k","ts":5,"dur":1}])",
       1,
       {},
       {"1 piece of device work without a record of the launch",
        "1 piece of device work without a stream: put on stream -1"},
       {}},
      {"separators that are wrong",
       R"([{"ph" "X"}, {"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":1,"dur":1}])",
       1,
       {"not JSON x1 at byte 1"},
       {"byte 7: unexpected '\"', expected ':' after the key"},
       {}},
      {"elements that are no maps",
       R"([1, null, "x", [2]])",
       0,
       {"no map, so no event x4 at byte 1"},
       {},
       {}},
      {"phases and categories that we do not know",
       R"([{"ph":"Q"},{"name":"x"},{"ph":"XX"},{"ph":"X","cat":"magic","ts":1,"dur":1}])",
       0,
       {"a phase ('ph') that no row is made of x2 at byte 1", "no phase ('ph') x1 at byte 12",
        "category 'magic', which is not read x1 at byte 37"},
       {},
       {}},
      {"a member that is not JSON",
       R"({"traceName": "C:\q", "traceEvents": []})",
       0,
       {},
       {"byte 17: unknown escape: '\\' before 'q' (a member next to the events, ignored)"},
       {}},
      {"operators that overlap",
       R"([{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":1,"dur":5},{"ph":"X","cat":"cpu_op","name":"aten::b","pid":1,"tid":1,"ts":3,"dur":9}])",
       2,
       {},
       {"1 operator that overlaps the one around it"},
       {}},
      {"a device whose clock is late",
       R"([{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":9,"dur":1,"args":{"correlation":1}},{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2,"dur":1,"args":{"correlation":1}}])",
       2,
       {},
       {"1 piece of device work that began before its launch: the clocks of host and device "
        "disagree"},
       {}},
      {"a byte order mark", "\xEF\xBB\xBF[]", 0, {}, {}, {}},
  };
  return cases;
}

TEST(TraceReader, PutsUpWithDirtAndTells) {
  for (const Dirt& c : dirt()) {
    SCOPED_TRACE(c.name);
    const Timeline t = read_text(c.text);
    EXPECT_EQ(t.reading.used, c.used);
    EXPECT_EQ(skipped(t), c.skipped);
    EXPECT_EQ(t.reading.notes, c.notes);
    EXPECT_EQ(t.reading.losses, c.losses);
  }
}

TEST(TraceReader, SaysWhatIsNoTrace) {
  struct Case {
    std::string_view text, message;
  };
  constexpr Case kCases[] = {
      {"", "reading t.json: byte 0: the input is empty"},
      {"7", "reading t.json: byte 0: expected a list or a map, which begin with '[' or '{'"},
      {"{\"schema\": 1}", "reading t.json: byte 13: no list under the key 'traceEvents'"},
      {"\x1f\x8b", "reading t.json: the gzip data ends early, after 2 bytes: the rest is missing"},
  };
  for (const Case& c : kCases) {
    const auto timeline = read_trace(chunks_of(c.text), "t.json");
    ASSERT_FALSE(timeline) << c.text;
    EXPECT_EQ(timeline.error().to_string(), c.message);
  }
}

std::string launches(std::string_view start, int step, std::string_view dur) {
  std::string text = "[";
  const long first = std::stol(std::string(start));
  for (int i = 0; i < 10; ++i) {
    text += std::string(i > 0 ? "," : "") +
            R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" +
            std::to_string(first + static_cast<long>(i) * step) + ",\"dur\":" + std::string(dur) +
            "}";
  }
  return text + "]";
}

TEST(TraceReader, KnowsAClockInNanoseconds) {
  const Timeline wall = read_text(launches("1794726066068636722", 10'000, "5000"));
  EXPECT_EQ(wall.calls[1].start_ns, 10'000);
  EXPECT_EQ(wall.calls[1].duration_ns(), 5'000);
  EXPECT_EQ(wall.unix_origin_ns, 1794726066068636722);
  EXPECT_THAT(wall.reading.notes,
              ElementsAre("times are nanoseconds, not microseconds as the format has it: "
                          "times are too large for microseconds"));
  const Timeline since_boot = read_text(launches("123456789012345", 10'000, "5000"));
  EXPECT_EQ(since_boot.calls[9].start_ns, 90'000);
  EXPECT_THAT(
      since_boot.reading.notes,
      ElementsAre("times are nanoseconds, not microseconds as the format has it: as microseconds "
                  "half of all launches would take more than a millisecond"));
  // Slow launches, as under a profiler that replays kernels, with a valid date.
  const Timeline slow = read_text(launches("1679055439000000", 10'000, "5000"));
  EXPECT_EQ(slow.calls[1].start_ns, 10'000'000);
  EXPECT_THAT(slow.reading.notes, IsEmpty());
  const Timeline usual = read_text(launches("123456789012345", 10, "5"));
  EXPECT_EQ(usual.calls[1].start_ns, 10'000);
  EXPECT_THAT(usual.reading.notes, IsEmpty());
}

// PyTorch before Kineto: no categories, processes by name.
TEST(TraceReader, ReadsTracesOfOldReleases) {
  const Timeline t = read_text(R"([
{"name":"mm","ph":"X","ts":1.5,"dur":9,"tid":1,"pid":"CPU functions","args":{}},
{"name":"sgemm","ph":"X","ts":5,"dur":2,"tid":"stream 3","pid":"CUDA functions","args":{}},
{"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7 ","ts":8,"dur":1,"args":{"external id":4}},
{"ph":"X","cat":"Operator","name":"aten::x","pid":1,"tid":1,"ts":7,"dur":1,"args":{"external id":4,"Input dims":[[2]]}}])");
  ASSERT_EQ(t.work.size(), 2U);
  EXPECT_EQ(t.streams[t.work[0].stream].stream, 3);
  EXPECT_EQ(t.streams[t.work[1].stream].stream, 7);
  ASSERT_EQ(t.operators.size(), 2U);
  EXPECT_EQ(t.operators[1].external_id, 4U);
  EXPECT_EQ(t.names.text(t.operators[1].input_shapes), "[[2]]");
}

TEST(TraceReader, TakesNamesOfAnySize) {
  const std::string name = "k" + std::string(std::size_t{512} * 1024, 'x');
  const Timeline t = read_text("[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" + name +
                               "\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1}]");
  ASSERT_EQ(t.work.size(), 1U);
  EXPECT_EQ(t.names.text(t.work[0].name), name);
  const auto large =
      read_trace(chunks_of(kSmall), "t.json", {.window_bytes = 64, .max_event_bytes = 200});
  ASSERT_TRUE(large) << large.error().to_string();
  EXPECT_THAT(large->reading.losses, ElementsAre(HasSubstr("an element of more than 200 bytes")));
}

TEST(TraceReader, ReadsAGeneratedTraceWhole) {
  std::string text;
  const auto made = testing::generate_trace(6'000, [&](std::string_view part) -> Result<void> {
    text += part;
    return {};
  });
  ASSERT_TRUE(made) << made.error().to_string();
  const Timeline t = read_text(text, {.window_bytes = 4096});
  EXPECT_EQ(t.reading.events(), made->events);
  EXPECT_EQ(t.work.size(), made->kernels);
  EXPECT_EQ(t.operators.size(), made->operators);
  std::int64_t kernel_ns = 0;
  for (const DeviceWork& work : t.work) {
    kernel_ns += work.duration_ns();
    ASSERT_NE(work.launch, kNoRow);
    ASSERT_NE(t.calls[work.launch].op, kNoRow);
    EXPECT_EQ(t.names.text(t.operators[t.calls[work.launch].op].name), "aten::mm");
  }
  EXPECT_EQ(kernel_ns, made->kernel_ns);
}

}  // namespace
}  // namespace profline::torch_profiler
