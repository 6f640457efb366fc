#include "workload/model/rope.h"

#include <algorithm>

namespace profline::workload {

Rope::Rope(std::int64_t head_dim, double theta, std::int64_t positions, at::Device device)
    : head_dim_(head_dim), theta_(theta), device_(device) {
  reserve(positions);
}

void Rope::reserve(std::int64_t positions) const {
  if (cos_.defined() && cos_.size(0) >= positions) return;
  const at::TensorOptions wide = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor exponent = at::arange(0, head_dim_, 2, wide) / static_cast<double>(head_dim_);
  const at::Tensor turns = at::arange(positions, wide).unsqueeze(1) * at::pow(theta_, -exponent);
  const auto table = [&](const at::Tensor& first, const at::Tensor& second) {
    return at::cat({first, second}, 1).unsqueeze(1).to(at::kFloat).to(device_);
  };
  cos_ = table(turns.cos(), turns.cos());
  sin_ = table(-turns.sin(), turns.sin());
}

at::Tensor Rope::operator()(const at::Tensor& x, std::int64_t first) const {
  const std::int64_t tokens = x.size(1);
  if (first + tokens > cos_.size(0)) reserve(std::max(first + tokens, 2 * cos_.size(0)));
  const at::Tensor swapped =
      x.unflatten(-1, at::IntArrayRef{2, head_dim_ / 2}).flip({-2}).flatten(-2);
  return (x * cos_.narrow(0, first, tokens)).add_(swapped * sin_.narrow(0, first, tokens));
}

}  // namespace profline::workload
