#include "workload/model/positions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "workload/model/testing_tensors.h"

namespace profline::workload {
namespace {

using testing::largest_difference;
using testing::random_tensor;

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

}  // namespace
}  // namespace profline::workload
