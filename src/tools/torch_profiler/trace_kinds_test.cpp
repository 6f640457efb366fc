// Which files are traces: forms and categories of writers other than Kineto, and what is refused.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/torch_profiler/trace.h"

namespace profline::torch_profiler {
namespace {

using ::testing::ElementsAre;

Timeline read_kinds(std::string_view text) {
  auto timeline = read_trace(chunks_of(text), "t.json");
  EXPECT_TRUE(timeline) << timeline.error().to_string();
  return timeline ? *std::move(timeline) : Timeline();
}

std::string refused(std::string_view text) {
  const auto timeline = read_trace(chunks_of(text), "t.json");
  return timeline ? "was read" : timeline.error().to_string();
}

// As written by converters of nsys files: lanes of a viewer for processes and threads.
TEST(TraceKinds, CategoriesOfConvertersFromNsysAreRead) {
  const Timeline t = read_kinds(R"json([
{"name":"decode","ph":"X","cat":"nvtx","ts":1,"dur":90,"tid":"NVTX Thread 512","pid":"Device 0"},
{"name":"cudaLaunchKernel_v7000","ph":"X","cat":"cuda_api","ts":5,"dur":4,"tid":"CUDA API Thread 512","pid":"Device 0","args":{"correlationId":31}},
{"name":"void gemm<float>(float*)","ph":"X","cat":"cuda","ts":20,"dur":8,"tid":"Stream 7","pid":"Device 0","args":{"correlationId":31}},
{"name":"[CUDA memcpy Host-to-Device]","ph":"X","cat":"cuda","ts":40,"dur":3,"tid":"Stream 7","pid":"Device 0"},
{"name":"decode","ph":"X","cat":"nvtx-kernel","ts":20,"dur":8,"tid":"NVTX Kernel Thread 512","pid":"Device 0"},
{"name":"poll","ph":"X","cat":"osrt","ts":20,"dur":8,"tid":"OSRT 512","pid":"Device 0"}])json");
  ASSERT_EQ(t.work.size(), 2U);
  EXPECT_EQ(t.work[0].kind, WorkKind::Kernel);
  EXPECT_EQ(t.streams[t.work[0].stream].stream, 7);
  ASSERT_EQ(t.calls.size(), 1U);
  EXPECT_EQ(t.work[0].launch, 0U);
  EXPECT_EQ(t.work[1].kind, WorkKind::Copy);
  ASSERT_EQ(t.ranges.size(), 1U);
  // One thread, although the file shows it as two lanes: the launch is inside the range.
  EXPECT_EQ(t.ranges[0].thread, t.calls[0].thread);
  EXPECT_EQ(t.threads[t.calls[0].thread].thread, 512);
  EXPECT_EQ(t.reading.used, 4U);
  EXPECT_EQ(t.tool, "Chrome trace");
}

TEST(TraceKinds, CallsWithoutACategoryAreNotOperators) {
  const Timeline t = read_kinds(R"([
{"name":"aten::mm","ph":"X","ts":1,"dur":9,"tid":1,"pid":"CPU functions","args":{}},
{"name":"cudaLaunchKernel","ph":"X","ts":2,"dur":1,"tid":1,"pid":"CPU functions","args":{}},
{"name":"INVALID","ph":"X","ts":4,"dur":1,"tid":1,"pid":"CPU functions","args":{}},
{"name":"cuda_kernel","ph":"X","ts":5,"dur":1,"tid":0,"pid":"CUDA functions","args":{}}])");
  ASSERT_EQ(t.operators.size(), 1U);
  EXPECT_EQ(t.names.text(t.operators[0].name), "aten::mm");
  ASSERT_EQ(t.calls.size(), 2U);
  EXPECT_EQ(t.calls[0].kind, CallKind::Launch);
  EXPECT_EQ(t.names.text(t.calls[1].name), "INVALID");
  EXPECT_EQ(t.work.size(), 1U);
}

TEST(TraceKinds, RangesAreTheSameWithAndWithoutRecordedShapes) {
  const auto ranges = [](std::string_view args) {
    const Timeline t = read_kinds(
        R"([{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":1,)"
        R"("dur":5,"args":{)" +
        std::string(args) + "}}]");
    return t.ranges.size();
  };
  EXPECT_EQ(ranges(R"("External id": 3)"), 1U);
  EXPECT_EQ(ranges(R"("External id": 3, "Input Dims": [[], [8, 4]])"), 1U);
}

TEST(TraceKinds, TracesOfOtherDevicesAreRefusedByName) {
  EXPECT_EQ(refused(R"([
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5},
{"ph":"X","cat":"mtia_ccp_events","name":"fc","pid":2,"tid":1,"ts":1,"dur":5},
{"ph":"X","cat":"mtia_ccp_events","name":"fc","pid":2,"tid":1,"ts":9,"dur":5}])"),
            "t.json is a trace of MTIA devices, which are not supported: their work is in events "
            "(2 of category 'mtia_ccp_events') that profline does not read");
  // Next to work that is read they are only counted.
  const Timeline both = read_kinds(R"([
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5},
{"ph":"X","cat":"hpu_op","name":"fc","pid":2,"tid":1,"ts":1,"dur":5}])");
  ASSERT_EQ(both.reading.skipped.size(), 1U);
  EXPECT_EQ(both.reading.skipped[0].reason, "work of a device that is not supported");
}

TEST(TraceKinds, ExecutionTracesAreRefusedBeforeTheirNodesAreRead) {
  constexpr std::string_view kBeginning =
      R"({"schema": "1.1.1-chakra.0.0.4", "pid": 563677, "time": "2023-07-14", "start_ts": 6278907328, "nodes": [)";
  constexpr std::string_view kNode = R"({"name": "aten::mm", "id": 2},)";
  std::size_t given = 0;
  const ChunkSource endless = [&](std::span<char> into) -> Result<std::size_t> {
    for (char& byte : into) {
      byte = given < kBeginning.size() ? kBeginning[given]
                                       : kNode[(given - kBeginning.size()) % kNode.size()];
      ++given;
    }
    return into.size();
  };
  const auto timeline = read_trace(endless, "et.json", {.window_bytes = 4096});
  ASSERT_FALSE(timeline);
  EXPECT_EQ(timeline.error().to_string(),
            "reading et.json: this is an execution trace (PyTorch's ExecutionTraceObserver, schema "
            "1.1.1-chakra.0.0.4), which has no times; give the trace that the profiler exported "
            "instead");
  EXPECT_LT(given, std::size_t{1} << 20U);
}

TEST(TraceKinds, EventsMayStandOnLines) {
  const Timeline t = read_kinds(
      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":5}\r\n"
      "\n"
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":1,\"tid\":1,\"ts\":1,"
      "\"dur\":5},\n"
      "{\"ph\":\"X\" oops\n"
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::b\",\"pid\":1,\"tid\":1,\"ts\":7,"
      "\"dur\":5} 2\n"
      "{\"ph\":\"X\",\"cat\":\"cp");
  EXPECT_EQ(t.work.size(), 1U);
  EXPECT_EQ(t.operators.size(), 2U);
  EXPECT_EQ(t.reading.used, 3U);
  ASSERT_EQ(t.reading.skipped.size(), 1U);
  EXPECT_EQ(t.reading.skipped[0].reason, "not JSON");
  EXPECT_EQ(t.reading.skipped[0].count, 2U);
  EXPECT_THAT(t.reading.losses,
              ElementsAre("the trace ends at byte 255, inside what begins at byte 236: the rest is "
                          "missing"));
  EXPECT_EQ(read_kinds("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":5}\n")
                .work.size(),
            1U);
}

TEST(TraceKinds, LinesThatAreNoEventsAreRefused) {
  EXPECT_EQ(refused("{\"Type\": 59, \"TraceProcessEvent\": {}}\n{\"Type\": 60}\n"),
            "reading t.json: these are JSON lines, and the first is not a trace event (it has no "
            "'ph'); if nsys wrote them, use 'nsys export --type sqlite' instead");
}

}  // namespace
}  // namespace profline::torch_profiler
