#pragma once

// For tests of this folder and of its users.

#include <cstdint>

#include <ATen/ATen.h>

#include "workload/model/torch_compat.h"

namespace profline::workload::testing {

/// Uniform values from −1 to 1, the same for the same seed.
inline at::Tensor random_tensor(at::IntArrayRef shape, std::uint64_t seed) {
  at::Generator generator = compat::seeded_generator(at::kCPU, seed);
  return at::empty(shape, at::kFloat).uniform_(-1, 1, generator);
}

inline double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace profline::workload::testing
