#include "workload/model/attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "workload/model/testing_tensors.h"

namespace profline::workload {
namespace {

using testing::largest_difference;
using testing::random_tensor;

TEST(Attention, FollowsTheFormula) {
  // Two keys, one query: scores ln 3 and 0, so weights 3/4 and 1/4.
  const at::Tensor q = at::full({1, 1, 1, 1}, 2.0F);
  const at::Tensor k = at::tensor({std::log(3.0F), 0.0F}).view({1, 1, 2, 1});
  const at::Tensor v = at::tensor({4.0F, 8.0F}).view({1, 1, 2, 1});
  for (const bool fused : {false, true}) {
    EXPECT_NEAR(attend(q, k, v, 0.5, Masking::None, fused).item<double>(), 5.0, 1e-6) << fused;
  }
}

TEST(Attention, FusedAndExplicitAgree) {
  struct Case {
    const char* name;
    std::int64_t heads, key_heads, queries, keys, value_dim;
    Masking masking;
  };
  constexpr Case kCases[] = {
      {"square", 4, 4, 9, 9, 8, Masking::None},
      {"causal", 4, 4, 9, 9, 8, Masking::Causal},
      {"one query", 4, 4, 1, 17, 8, Masking::None},
      {"shared key heads", 6, 2, 7, 7, 8, Masking::Causal},
      {"one key head", 4, 1, 1, 5, 8, Masking::None},
      {"narrow values", 2, 2, 5, 5, 3, Masking::None},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const at::Tensor q = random_tensor({2, c.heads, c.queries, 8}, 1);
    const at::Tensor k = random_tensor({2, c.key_heads, c.keys, 8}, 2);
    const at::Tensor v = random_tensor({2, c.key_heads, c.keys, c.value_dim}, 3);
    const at::Tensor fused = attend(q, k, v, 0.7, c.masking, true);
    const at::Tensor plain = attend(q, k, v, 0.7, c.masking, false);
    EXPECT_EQ(fused.sizes(), (at::IntArrayRef{2, c.heads, c.queries, c.value_dim}));
    EXPECT_LT(largest_difference(fused, plain), 1e-6);
  }
}

TEST(Attention, KeyHeadsServeQueryHeadsInARow) {
  const at::Tensor q = random_tensor({1, 4, 3, 8}, 1);
  const at::Tensor k = random_tensor({1, 2, 3, 8}, 2);
  const at::Tensor v = random_tensor({1, 2, 3, 8}, 3);
  const at::Tensor all = attend(q, k, v, 1.0, Masking::None, true);
  // Query heads 2 and 3 belong to key head 1.
  const at::Tensor last =
      attend(q.narrow(1, 3, 1), k.narrow(1, 1, 1), v.narrow(1, 1, 1), 1.0, Masking::None, false);
  EXPECT_LT(largest_difference(all.narrow(1, 3, 1), last), 1e-6);
}

TEST(Attention, CausalQueriesDoNotSeeLaterKeys) {
  const at::Tensor q = random_tensor({1, 1, 4, 8}, 1);
  const at::Tensor k = random_tensor({1, 1, 4, 8}, 2);
  at::Tensor v = random_tensor({1, 1, 4, 8}, 3);
  for (const bool fused : {false, true}) {
    const at::Tensor before = attend(q, k, v, 1.0, Masking::Causal, fused);
    at::Tensor changed = v.clone();
    changed.select(2, 3).fill_(100.0);
    const at::Tensor after = attend(q, k, changed, 1.0, Masking::Causal, fused);
    EXPECT_EQ(largest_difference(before.narrow(2, 0, 3), after.narrow(2, 0, 3)), 0.0) << fused;
    EXPECT_GT(largest_difference(before.select(2, 3), after.select(2, 3)), 1.0) << fused;
  }
}

TEST(Attention, HeadsAreSplitAndJoined) {
  // Rows [q | k | v], each head-major: element = 100·part + 10·head + channel.
  const at::Tensor row = at::tensor({0, 1, 10, 11, 100, 101, 110, 111, 200, 201, 210, 211});
  const auto [q, k, v] = split_heads(row.view({1, 1, 12}), 2);
  EXPECT_EQ(q.sizes(), (at::IntArrayRef{1, 2, 1, 2}));
  EXPECT_EQ(k.index({0, 1, 0, 0}).item<int>(), 110);
  EXPECT_EQ(v.index({0, 0, 0, 1}).item<int>(), 201);
  EXPECT_TRUE(at::equal(join_heads(k).flatten(), at::tensor({100, 101, 110, 111})));
}

double cubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0;
}

/// [out, in]: what an antialiased bicubic resize of one axis does, in double.
at::Tensor bicubic_matrix(std::int64_t in, std::int64_t out) {
  at::Tensor matrix = at::zeros({out, in}, at::kDouble);
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double stretch = std::max(scale, 1.0);
  for (std::int64_t i = 0; i < out; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    for (std::int64_t x = 0; x < in; ++x) {
      matrix[i][x] = cubic((static_cast<double>(x) - centre + 0.5) / stretch);
    }
    matrix[i] /= matrix[i].sum();
  }
  return matrix;
}

/// [out, in]: linear, pixel centres aligned, ends held.
at::Tensor linear_matrix(std::int64_t in, std::int64_t out) {
  at::Tensor matrix = at::zeros({out, in}, at::kDouble);
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  for (std::int64_t i = 0; i < out; ++i) {
    const double at_source = std::max(0.0, (static_cast<double>(i) + 0.5) * scale - 0.5);
    const auto first = static_cast<std::int64_t>(at_source);
    const auto second = std::min(first + 1, in - 1);
    const double share = at_source - static_cast<double>(first);
    matrix[i][first] += 1 - share;
    matrix[i][second] += share;
  }
  return matrix;
}

TEST(PositionGrid, IsResizedAsADoublePrecisionReimplementationDoes) {
  const at::Tensor table = random_tensor({1, 16, 16, 5}, 7);
  for (const std::int64_t side : {2, 8, 10, 20, 33}) {
    const at::Tensor matrix = bicubic_matrix(16, side);
    const at::Tensor expected =
        at::einsum("yi,bijc,xj->byxc", {matrix, table.to(at::kDouble), matrix});
    EXPECT_LT(largest_difference(resize_position_grid(table, side), expected), 2e-6) << side;
  }
}

TEST(PositionGrid, OfItsOwnSideIsUntouched) {
  const at::Tensor table = random_tensor({1, 4, 4, 3}, 7);
  EXPECT_TRUE(resize_position_grid(table, 4).is_same(table));
}

TEST(PositionGrid, KeepsItsDtype) {
  const at::Tensor table = random_tensor({1, 4, 4, 3}, 7);
  const at::Tensor rounded = table.to(at::kBFloat16);
  const at::Tensor resized = resize_position_grid(rounded, 6);
  EXPECT_EQ(resized.scalar_type(), at::kBFloat16);
  // Computed in fp32 and rounded once.
  EXPECT_TRUE(
      at::equal(resized, resize_position_grid(rounded.to(at::kFloat), 6).to(at::kBFloat16)));
}

TEST(RelativePositions, AreResizedAsADoublePrecisionReimplementationDoes) {
  const at::Tensor table = random_tensor({31, 4}, 7);
  for (const std::int64_t length : {15, 19, 39, 63}) {
    const at::Tensor expected = at::matmul(linear_matrix(31, length), table.to(at::kDouble));
    EXPECT_LT(largest_difference(resize_relative_positions(table, length), expected), 4e-6)
        << length;
  }
  EXPECT_TRUE(resize_relative_positions(table, 31).is_same(table));
}

std::vector<std::int64_t> values_of(const at::Tensor& integers) {
  const at::Tensor flat = integers.contiguous();
  return {flat.data_ptr<std::int64_t>(), flat.data_ptr<std::int64_t>() + flat.numel()};
}

/// 1 where a query may attend.
std::vector<std::int64_t> seen(const at::Tensor& mask) {
  return values_of((mask == 0).to(at::kLong));
}

TEST(PaddedCache, CountsPositionsFromTheBeginningOfEachSequence) {
  KvCache cache(tiny_config(), {}, /*batch=*/2, /*capacity=*/5);
  EXPECT_FALSE(cache.is_padded());
  cache.pad({0, 2});
  ASSERT_TRUE(cache.is_padded());
  const Places prompt = cache.places(3);
  EXPECT_EQ(values_of(prompt.positions), (std::vector<std::int64_t>{0, 1, 2, 0, 0, 0}));
  ASSERT_EQ(prompt.mask.sizes(), (at::IntArrayRef{2, 1, 3, 3}));
  // Two places of padding see only themselves, and nothing sees them.
  EXPECT_EQ(seen(prompt.mask), (std::vector<std::int64_t>{1, 0, 0, 1, 1, 0, 1, 1, 1,  //
                                                          1, 0, 0, 0, 1, 0, 0, 0, 1}));
  cache.advance(3);
  const Places step = cache.places(1);
  EXPECT_EQ(values_of(step.positions), (std::vector<std::int64_t>{3, 1}));
  ASSERT_EQ(step.mask.sizes(), (at::IntArrayRef{2, 1, 1, 4}));
  EXPECT_EQ(seen(step.mask), (std::vector<std::int64_t>{1, 1, 1, 1, 0, 0, 1, 1}));
}

TEST(Rope, RotatesEachSequenceByItsOwnPositions) {
  const Rope rope(8, 10000.0, 4, at::kCPU);
  const at::Tensor x = at::arange(2 * 1 * 3 * 8, at::kFloat).view({2, 1, 3, 8});
  const at::Tensor positions = at::tensor({5, 2}, at::kLong).view({2, 1});
  const at::Tensor rotated = rope(x, positions, 6);  // beyond its tables
  EXPECT_TRUE(rotated[0].equal(rope(x.narrow(0, 0, 1), 5)[0]));
  EXPECT_TRUE(rotated[1].equal(rope(x.narrow(0, 1, 1), 2)[0]));
}

}  // namespace
}  // namespace profline::workload
