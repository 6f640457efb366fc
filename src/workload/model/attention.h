#pragma once

#include <cstdint>

#include <ATen/ATen.h>

namespace profline::workload {

enum class Masking {
  None,    ///< every query sees every key
  Causal,  ///< query i sees keys 0..i; as many queries as keys
};

/// softmax(scale q kᵀ) v, heads in the second dimension: q [B, H, Q, d], k [B, K, N, d],
/// v [B, K, N, e]; K divides H and each key head serves H/K query heads in a row.
///
/// Fused, it is libtorch's scaled_dot_product_attention, which chooses a kernel; else the formula
/// as separate operators, softmax in fp32.
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                  Masking masking, bool fused);
/// softmax(scale q kᵀ + bias) v as separate operators; `bias` [B, H, Q, N], or undefined.
at::Tensor attend_explicitly(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& bias, double scale, Masking masking);

/// [B, N, 3 H d] with rows [q | k | v], each head-major, as three [B, H, N, d]; views.
struct QueryKeyValue {
  at::Tensor q, k, v;
};
QueryKeyValue split_heads(const at::Tensor& qkv, std::int64_t heads);
/// [B, H, N, d] as [B, N, H d].
at::Tensor join_heads(const at::Tensor& x);

}  // namespace profline::workload
