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

TEST(CountOperators, TellsWhatThrew) {
  const auto counts = count_operators([]() -> Result<void> {
    TORCH_CHECK(false, "no such kernel");
    return {};
  });
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().to_string(), "tracing operators: libtorch: no such kernel");
}

}  // namespace
}  // namespace profline::workload
