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
