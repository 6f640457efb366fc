// The fixture from an H200: PyTorch 2.11, twenty decoding steps of six kernels.

#include <map>

#include <gtest/gtest.h>

#include "testing/paths.h"
#include "tools/torch_profiler/trace.h"

namespace profline::torch_profiler {
namespace {

class H200Trace : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = testing::source_dir() / "tests/golden/trace/kineto-torch-2.11-h200.json.gz";
    auto read = read_trace(path);
    ASSERT_TRUE(read) << read.error().to_string();
    t = *std::move(read);
  }
  Timeline t;
};

TEST_F(H200Trace, HasEveryEventUsedOrSkipped) {
  EXPECT_EQ(t.reading.events(), 1005U);
  EXPECT_EQ(t.reading.used, 505U);
  std::map<std::string, std::uint64_t> skipped;
  for (const auto& entry : t.reading.skipped) skipped[entry.reason] = entry.count;
  EXPECT_EQ(skipped, (std::map<std::string, std::uint64_t>{
                         {"flow arrow: launches are linked by their correlation", 241},
                         {"instant event", 202},
                         {"metadata for viewers: names and order of lanes", 55},
                         {"the profiler's own overhead", 1},
                         {"the profiler's own span", 1}}));
  for (const auto& entry : t.reading.skipped) {
    EXPECT_EQ(entry.is_of_the_tool, entry.reason != "instant event") << entry.reason;
  }
  EXPECT_TRUE(t.reading.notes.empty());
  EXPECT_TRUE(t.reading.losses.empty());
}

TEST_F(H200Trace, HasItsKernelsWithTheirTimesToTheNanosecond) {
  ASSERT_EQ(t.work.size(), 120U);
  std::map<std::string, std::pair<int, std::int64_t>> kernels;
  std::int64_t total_ns = 0;
  for (const DeviceWork& work : t.work) {
    auto& [count, time_ns] = kernels[t.names.text(work.name)];
    ++count;
    time_ns += work.duration_ns();
    total_ns += work.duration_ns();
  }
  EXPECT_EQ(total_ns, 375'541);
  EXPECT_EQ(kernels.size(), 6U);
  for (const auto& [name, sum] : kernels) EXPECT_EQ(sum.first, 20) << name;
  // "ts": 3869040071685.336, "dur": 5.792, and the first operator at 3869040068636.722
  EXPECT_EQ(t.work[0].start_ns, 3'048'614);
  EXPECT_EQ(t.work[0].duration_ns(), 5'792);
  EXPECT_EQ(t.shapes[t.work[0].shape], (LaunchShape{{4, 27, 1}, {384, 1, 1}, 168, 0, 164308}));
}

TEST_F(H200Trace, LinksEachKernelToItsLaunchAndOperator) {
  std::map<std::string, int> operators;
  for (const DeviceWork& work : t.work) {
    ASSERT_NE(work.launch, kNoRow);
    const HostCall& call = t.calls[work.launch];
    EXPECT_LE(call.start_ns, work.start_ns);
    EXPECT_EQ(call.kind, CallKind::Launch);
    ASSERT_NE(call.op, kNoRow);
    ++operators[t.names.text(t.operators[call.op].name)];
  }
  EXPECT_EQ(operators, (std::map<std::string, int>{{"aten::div", 20},
                                                   {"aten::linalg_vector_norm", 20},
                                                   {"aten::mm", 60},
                                                   {"aten::silu", 20}}));
}

TEST_F(H200Trace, KnowsTheProgramsScopeTheDeviceAndTheDate) {
  ASSERT_EQ(t.ranges.size(), 1U);
  EXPECT_EQ(t.names.text(t.ranges[0].name), "decode");
  EXPECT_EQ(t.ranges[0].duration_ns(), 7'219'062);
  ASSERT_EQ(t.gpus.size(), 1U);
  EXPECT_EQ(t.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(t.gpus[0].compute_capability, "9.0");
  EXPECT_EQ(t.unix_origin_ns, 1794726066068636722);
  EXPECT_EQ(t.end_ns, 7'219'062);
}

}  // namespace
}  // namespace profline::torch_profiler
