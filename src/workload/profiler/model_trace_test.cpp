#include "workload/profiler/model_trace.h"

#include <gtest/gtest.h>

namespace profline::workload {
namespace {

// The closed forms of section 6 of the model's description, for the release.

struct Vision {
  std::int64_t sam, clip, projector;
};

Vision vision(std::int64_t side) {
  const std::int64_t g = side / 16;
  const std::int64_t n = g * g;
  const std::int64_t windows = ((g + 13) / 14) * ((g + 13) / 14);
  const std::int64_t padded = 196 * windows;
  const std::int64_t t = (side / 64) * (side / 64) + 1;
  return {.sam = 1'179'648 * n +
                 8 * (4'718'592 * padded + 118'013'952 * windows + 8'429'568 * windows) +
                 4 * (4'718'592 * n + 3'072 * n * n + 3'072 * n * g) + 12 * (9'437'184 * n) +
                 (1'572'864 + 589'824 + 589'824) * n,
          .clip = 24 * (25'165'824 * t + 4'096 * t * t),
          .projector = 5'242'880 * (t - 1)};
}

std::int64_t prefill(std::int64_t tokens) {
  return 817'233'920 * tokens + 61'440 * tokens * tokens + 330'956'800;
}

std::int64_t decode(std::int64_t context) {
  return 1'148'190'720 + 61'440 * context;
}

void expect_within_one_percent(std::int64_t traced, std::int64_t expected) {
  EXPECT_NEAR(static_cast<double>(traced) / static_cast<double>(expected), 1.0, 0.01)
      << traced << " instead of " << expected;
}

TEST(ModelTrace, OfTheReleaseAgreesWithTheClosedForms) {
  for (const std::int64_t side : {std::int64_t{512}, std::int64_t{640}, std::int64_t{1024}}) {
    SCOPED_TRACE(side);
    const TraceShape shape{.page_side = side, .prompt_tokens = 283, .context = 315};
    const auto trace = trace_model(official_config(), at::kBFloat16, shape);
    ASSERT_TRUE(trace) << trace.error().to_string();
    expect_within_one_percent(trace->sam.flops(), vision(side).sam);
    expect_within_one_percent(trace->clip.flops(), vision(side).clip);
    expect_within_one_percent(trace->projector.flops(), vision(side).projector);
    expect_within_one_percent(trace->prefill.flops(), prefill(283));
    expect_within_one_percent(trace->decode.flops(), decode(315));
  }
}

TEST(ModelTrace, AddsTheTilesToThePage) {
  const TraceShape shape{.page_side = 1024,
                         .tile_side = 640,
                         .grid = {.columns = 3, .rows = 2},
                         .prompt_tokens = 903,
                         .context = 935};
  const auto trace = trace_model(official_config(), at::kBFloat16, shape);
  ASSERT_TRUE(trace) << trace.error().to_string();
  expect_within_one_percent(trace->sam.flops(), vision(1024).sam + 6 * vision(640).sam);
  expect_within_one_percent(trace->clip.flops(), vision(1024).clip + 6 * vision(640).clip);
  expect_within_one_percent(trace->prefill.flops(), prefill(903));
}

TEST(ModelTrace, WithoutAPictureHasNoVision) {
  const auto trace = trace_model(tiny_config(), at::kFloat, {.prompt_tokens = 12, .context = 20});
  ASSERT_TRUE(trace) << trace.error().to_string();
  EXPECT_EQ(trace->sam.flops(), 0);
  EXPECT_GT(trace->prefill.flops(), 0);
  EXPECT_GT(trace->decode.flops(), 0);
}

}  // namespace
}  // namespace profline::workload
