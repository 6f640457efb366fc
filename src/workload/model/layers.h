#pragma once

#include <ATen/ATen.h>

namespace profline::workload {

/// y = x Wᵀ + b over the last dimension.
struct Linear {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out], or undefined

  at::Tensor operator()(const at::Tensor& x) const;
};

/// Over the last dimension, statistics in fp32.
struct LayerNorm {
  at::Tensor weight;
  at::Tensor bias;
  double eps = 0;

  at::Tensor operator()(const at::Tensor& x) const;
};

/// Over the last dimension, in fp32.
struct RmsNorm {
  at::Tensor weight;
  double eps = 0;

  at::Tensor operator()(const at::Tensor& x) const;
};

/// silu(gate) ⊙ up, where the last dimension of `gate_up` is [gate | up].
at::Tensor swiglu(const at::Tensor& gate_up);

/// down(silu(gate(x)) ⊙ up(x)), gate and up in one product.
struct GatedMlp {
  at::Tensor gate_up;  // [2 inner, width]
  at::Tensor down;     // [width, inner]

  at::Tensor operator()(const at::Tensor& x) const;
};

}  // namespace profline::workload
