#pragma once

#include <ATen/ATen.h>

namespace profline::workload {

/// Where and in what the model computes.
struct ModelOptions {
  at::Device device = at::kCPU;
  /// Of weights and activations. Norms, softmax, router and RoPE tables are fp32 in all of them.
  at::ScalarType dtype = at::kFloat;
  /// Attention as one fused operator; false: as separate ones (`use_flash_attn`).
  bool fused_attention = true;
  /// Lets fp32 products use TF32, also in cuDNN.
  bool allow_tf32 = false;
};

}  // namespace profline::workload
