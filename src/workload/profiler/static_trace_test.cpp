#include "workload/profiler/static_trace.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace profline::workload {
namespace {

std::int64_t flops_of(const std::function<void()>& work) {
  const auto counts = count_operators([&]() -> Result<void> {
    work();
    return {};
  });
  EXPECT_TRUE(counts) << counts.error().to_string();
  return counts ? counts->flops() : -1;
}

at::TensorOptions on(at::DeviceType device) {
  return at::TensorOptions().device(device);
}

const TracedOperator* find(const OperatorCounts& counts, std::string_view name) {
  for (const TracedOperator& row : counts.operators) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

TEST(CountOperators, KnowsProducts) {
  for (const at::DeviceType device : {at::kCPU, at::kMeta}) {
    const at::Tensor a = at::empty({3, 5, 7}, on(device));
    const at::Tensor w = at::empty({11, 7}, on(device));
    const at::Tensor bias = at::empty({11}, on(device));
    EXPECT_EQ(flops_of([&] { at::linear(a, w); }), 2 * 3 * 5 * 7 * 11);
    EXPECT_EQ(flops_of([&] { at::linear(a, w, bias); }), 2 * 3 * 5 * 7 * 11);
    EXPECT_EQ(flops_of([&] { at::bmm(a, a.transpose(1, 2)); }), 2 * 3 * 5 * 7 * 5);
    EXPECT_EQ(flops_of([&] { at::matmul(a, w[0]); }), 2 * 3 * 5 * 7);
    EXPECT_EQ(flops_of([&] { at::einsum("bij,kj->bik", {a, w}); }), 2 * 3 * 5 * 7 * 11);
    EXPECT_EQ(flops_of([&] { a.add(1).softmax(-1); }), 0);
  }
}

TEST(CountOperators, KnowsConvolutions) {
  const MetaKernels kernels;
  for (const at::DeviceType device : {at::kCPU, at::kMeta}) {
    const at::Tensor x = at::empty({2, 4, 10, 8}, on(device));
    const at::Tensor w = at::empty({6, 4, 3, 3}, on(device));
    // Stride 2, padding 1: 5 x 4 positions.
    EXPECT_EQ(flops_of([&] {
                const at::Tensor y = at::conv2d(x, w, {}, 2, 1);
                EXPECT_EQ(y.sizes(), (std::vector<std::int64_t>{2, 6, 5, 4}));
              }),
              2 * 2 * 5 * 4 * 6 * 4 * 9);
    const at::Tensor grouped = at::empty({8, 2, 3, 3}, on(device));
    EXPECT_EQ(flops_of([&] { at::conv2d(x, grouped, {}, 1, 1, 1, 2); }),
              2 * 2 * 10 * 8 * 8 * 2 * 9);
  }
}

TEST(CountOperators, CountsWhatIsInsideOnce) {
  const at::Tensor a = at::ones({4, 8});
  const auto counts = count_operators([&]() -> Result<void> {
    at::linear(a, at::ones({2, 8}));
    at::linear(a, at::ones({2, 8}));
    return {};
  });
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->flops(), 2 * 2 * 4 * 8 * 2);
  EXPECT_EQ(counts->operators.front().flops, counts->flops());
  EXPECT_EQ(counts->operators.front().calls, 2U);
  EXPECT_EQ(find(*counts, "aten::linear"), nullptr);  // it is made of others
}

TEST(CountOperators, NeedsNoMemoryOnTheMetaDevice) {
  // 4 TiB each.
  const at::Tensor a = at::empty({1 << 20, 1 << 20}, on(at::kMeta));
  EXPECT_EQ(flops_of([&] { at::mm(a, a); }), std::int64_t{2} << 60U);
}

TEST(CountOperators, ReportsWhatThrew) {
  const auto counts = count_operators([]() -> Result<void> {
    TORCH_CHECK(false, "no such kernel");
    return {};
  });
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().to_string(), "tracing operators: libtorch: no such kernel");
}

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
