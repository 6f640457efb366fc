#include "analysis/steps/steps.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace profline::steps {
namespace {

TEST(StepNames, AreThoseOfKnownEngines) {
  const auto is = [](std::string_view name, StepKind kind, std::optional<std::uint64_t> batch,
                     std::optional<std::uint64_t> tokens) {
    const auto step = parse_step(name);
    ASSERT_TRUE(step) << name;
    EXPECT_EQ(step->kind, kind) << name;
    EXPECT_EQ(step->batch, batch) << name;
    EXPECT_EQ(step->tokens, tokens) << name;
  };
  is("execute_context_1(512)_generation_7(7)", StepKind::Mixed, 8, 519);
  is("execute_context_2(1024)_generation_0(0)", StepKind::Prefill, 2, 1024);
  is("execute_context_0(0)_generation_8(8)", StepKind::Decode, 8, 8);
  is("execute_new_1_cached_0", StepKind::Prefill, 1, {});
  is("execute_new_0_cached_5", StepKind::Decode, 5, {});
  is("[Executor] _forward_step 12: 1 ctx reqs, 512 ctx tokens, 7 gen reqs", StepKind::Mixed, 8,
     519);
  is("step[decode bs=8 toks=8]", StepKind::Decode, 8, 8);
  is("step[EXTEND bs=2 toks=100]", StepKind::Prefill, 2, 100);
  is("step[warm]", StepKind::Other, {}, {});
  is("prefill", StepKind::Prefill, {}, {});
  is("decode_step", StepKind::Decode, {}, {});
}

TEST(StepNames, AreNotGuessed) {
  for (const char* name : {"", "decode", "execute_context_", "execute_context_1(2", "step[",
                           "execute_new_1_cached_2_more", "steps", "forward", "Step 3"}) {
    EXPECT_FALSE(parse_step(name)) << name;
  }
}

/// A capture of one thread per process.
class Capture {
 public:
  Capture() { add_process(1); }

  void add_process(std::int64_t pid) { timeline.threads.push_back({pid, pid, 0}); }
  void range(const std::string& name, std::int64_t start, std::int64_t end, RowIndex thread = 0) {
    Range range;
    range.name = timeline.names.id_of(name);
    range.start_ns = start;
    range.end_ns = end;
    range.thread = thread;
    timeline.ranges.push_back(range);
  }
  void kernel(std::int64_t start, std::int64_t end) {
    DeviceWork work;
    work.start_ns = start;
    work.end_ns = end;
    timeline.work.push_back(work);
  }

  Timeline timeline;
};

double shares(const ServerSteps& table) {
  double sum = 0;
  for (const ServerStepKind& kind : table.kinds) sum += kind.share;
  return sum;
}

TEST(StepTable, CoversTheWholeWindow) {
  Capture capture;
  capture.range("step[prefill bs=2 toks=100]", 50, 300);  // begins before the window
  capture.range("attention", 110, 120);
  capture.range("step[decode bs=2 toks=2]", 310, 400);
  capture.range("step[decode bs=2 toks=2]", 400, 480);
  capture.range("step[decode bs=8 toks=8]", 500, 600);
  capture.range("step[decode bs=8 toks=8]", 1090, 1300);  // ends after it
  capture.kernel(120, 290);
  capture.kernel(320, 350);
  capture.kernel(340, 390);
  const ServerSteps table = step_table(capture.timeline, 100, 1100);
  EXPECT_EQ(table.why_none, "");
  ASSERT_EQ(table.kinds.size(), 4U);
  EXPECT_DOUBLE_EQ(shares(table), 1);
  EXPECT_EQ(table.kinds[0].kind, "idle");
  EXPECT_DOUBLE_EQ(table.kinds[0].total_ns, 10 + 20 + 490);
  EXPECT_EQ(table.kinds[1].kind, "prefill");
  EXPECT_DOUBLE_EQ(table.kinds[1].total_ns, 200);
  EXPECT_DOUBLE_EQ(*table.kinds[1].busy_share, 170.0 / 200);
  EXPECT_EQ(table.kinds[1].batch, std::nullopt);
  EXPECT_EQ(table.kinds[2].kind, "decode");
  EXPECT_EQ(table.kinds[2].batch, 2U);
  EXPECT_EQ(table.kinds[2].count, 2U);
  EXPECT_DOUBLE_EQ(*table.kinds[2].busy_share, 70.0 / 170);
  EXPECT_DOUBLE_EQ(*table.kinds[2].host_gap_ns, 50);
  EXPECT_DOUBLE_EQ(*table.kinds[2].tokens, 2);
  EXPECT_EQ(table.kinds[3].batch, 8U);
  EXPECT_DOUBLE_EQ(table.kinds[3].total_ns, 110);
}

TEST(StepTable, CountsTheStepsOfOneProcessOnce) {
  Capture capture;
  capture.add_process(2);
  capture.range("execute_context_0(0)_generation_8(8)", 0, 10, 0);
  capture.range("execute_context_0(0)_generation_8(8)", 0, 11, 1);
  capture.range("execute_context_0(0)_generation_8(8)", 20, 30, 1);
  const ServerSteps table = step_table(capture.timeline, 0, 100);
  EXPECT_EQ(table.engine, "vLLM");
  ASSERT_EQ(table.kinds.size(), 2U);
  EXPECT_EQ(table.kinds[1].count, 2U);
  EXPECT_FALSE(table.kinds[1].busy_share);
  EXPECT_DOUBLE_EQ(shares(table), 1);
}

TEST(StepTable, GivesTimeThatOverlapsToTheEarlierStep) {
  Capture capture;
  capture.range("step[decode bs=1]", 0, 60);
  capture.range("step[decode bs=1]", 10, 20);  // within the first
  capture.range("step[decode bs=1]", 50, 100);
  const ServerSteps table = step_table(capture.timeline, 0, 100);
  ASSERT_EQ(table.kinds.size(), 1U);
  EXPECT_EQ(table.kinds[0].count, 2U);
  EXPECT_DOUBLE_EQ(table.kinds[0].total_ns, 100);
}

/// A device with one sample per 10 ns, from 10 to 1000 ns: half of the DRAM bandwidth is used up to
/// 500 ns, none of it afterwards.
void sample(Timeline& timeline, std::int32_t device) {
  GpuSamples samples;
  samples.device = device;
  for (std::int64_t at = 0; at <= 1000; at += 10) {
    samples.when_ns.push_back(at);
    samples.values[static_cast<std::size_t>(GpuMetric::DramRead)].push_back(at <= 500 ? 0.4F : 0);
    samples.values[static_cast<std::size_t>(GpuMetric::DramWrite)].push_back(at <= 500 ? 0.1F : 0);
    samples.values[static_cast<std::size_t>(GpuMetric::SmActive)].push_back(at <= 500 ? 0.8F : 0);
  }
  timeline.gpu_samples.push_back(std::move(samples));
}

TEST(StepTable, HasWhatTheGpuSampledInEachKindOfStep) {
  Capture capture;
  capture.timeline.streams.push_back({.device = 1});
  capture.range("step[decode bs=4]", 100, 300);
  capture.range("step[decode bs=8]", 400, 600);
  capture.kernel(120, 290);
  capture.timeline.work.back().stream = 0;
  sample(capture.timeline, 0);  // does no work of the server
  capture.timeline.gpu_samples.back().values[static_cast<std::size_t>(GpuMetric::SmActive)].assign(
      101, 1.0F);
  sample(capture.timeline, 1);
  const ServerSteps table = step_table(capture.timeline, 0, 1000);
  ASSERT_EQ(table.kinds.size(), 3U);
  EXPECT_EQ(table.kinds[1].batch, 4U);
  EXPECT_NEAR(*table.kinds[1].dram, 0.5, 1e-6);
  EXPECT_NEAR(*table.kinds[1].sm_active, 0.8, 1e-6);
  EXPECT_FALSE(table.kinds[1].tensor_active);
  EXPECT_EQ(table.kinds[2].batch, 8U);
  EXPECT_NEAR(*table.kinds[2].dram, 0.25, 1e-6);
  const std::vector<ServerGpu> gpus = gpus_between(capture.timeline, 0, 1000);
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].device, 1);
  EXPECT_DOUBLE_EQ(gpus[0].busy_share, 0.17);
  ASSERT_TRUE(gpus[0].metrics);
  EXPECT_NEAR(*gpus[0].metrics->dram_read, 0.2, 1e-6);
}

TEST(StepTable, AbstainsWithoutProof) {
  Capture capture;
  EXPECT_EQ(step_table(capture.timeline, 0, 100).why_none,
            "the capture holds no ranges, so where steps begin and end is not known");
  capture.range("forward", 0, 10);
  const ServerSteps table = step_table(capture.timeline, 0, 100);
  EXPECT_EQ(table.why_none, "no range of the capture has the name of an engine's step");
  EXPECT_TRUE(table.kinds.empty());
}

}  // namespace
}  // namespace profline::steps
