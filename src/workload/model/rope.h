#pragma once

#include <cstdint>

#include <ATen/ATen.h>

namespace profline::workload {

/// Rotary positions, half-split: pair (i, i + d/2) turns by position · theta^(−2i/d). Tables in
/// fp32.
class Rope {
 public:
  Rope() = default;
  /// Grows its tables when a position beyond them is met.
  Rope(std::int64_t head_dim, double theta, std::int64_t positions, at::Device device);

  /// x [B, T, H, d] of the tokens first, first + 1, …; fp32 when x is not.
  at::Tensor operator()(const at::Tensor& x, std::int64_t first) const;

 private:
  void reserve(std::int64_t positions) const;

  std::int64_t head_dim_ = 0;
  double theta_ = 0;
  at::Device device_ = at::kCPU;
  mutable at::Tensor cos_;  // [positions, 1, d]
  mutable at::Tensor sin_;  // the same, the first half negated
};

}  // namespace profline::workload
