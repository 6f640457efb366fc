#pragma once

// The one file where versions of libtorch differ: 1.13 (Debian 12, CPU) and 2.x (tried: 2.11,
// CUDA).

#include <cmath>
#include <cstdint>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <torch/version.h>

#define PL_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||     \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace profline::workload::compat {

/// softmax(scale q kᵀ) v by libtorch's fused operator; [B, H, N, d] each.
inline at::Tensor scaled_dot_product_attention(const at::Tensor& q, const at::Tensor& k,
                                               const at::Tensor& v, bool causal, double scale) {
#if PL_TORCH_AT_LEAST(2, 1)
  return at::scaled_dot_product_attention(q, k, v, {}, 0.0, causal, scale);
#else
  // Its scale is always 1/√d: let q make up for the difference.
  const double own = 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
  const at::Tensor scaled = scale == own ? q : q * (scale / own);
  return std::get<0>(at::_scaled_dot_product_attention(scaled, k, v, {}, 0.0, false, causal));
#endif
}

/// x / √(mean(x²) + eps) · weight over the last dimension, in fp32; x's dtype.
inline at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
#if PL_TORCH_AT_LEAST(2, 9)  // from here on one kernel
  return at::rms_norm(x, weight.sizes(), weight, eps);
#else
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scale = wide.square().mean(-1, /*keepdim=*/true).add_(eps).rsqrt_();
  return (wide * scale).to(x.scalar_type()) * weight;
#endif
}

/// Whether `grouped_mm` can take these: rows of `x` [M, K] and `weights` [E, N, K].
inline bool has_grouped_mm([[maybe_unused]] const at::Tensor& x,
                           [[maybe_unused]] const at::Tensor& weights) {
#if PL_TORCH_AT_LEAST(2, 9)
  constexpr std::int64_t kAlignment = 8;  // 16 bytes of bf16
  return x.is_cuda() && x.scalar_type() == at::kBFloat16 && weights.size(1) % kAlignment == 0 &&
         weights.size(2) % kAlignment == 0;
#else
  return false;
#endif
}

/// Rows [ends[e−1], ends[e]) of `x` times weights[e]ᵀ, for every e, in one launch; `ends` is int32
/// and on the device, so nothing waits for it.
inline at::Tensor grouped_mm([[maybe_unused]] const at::Tensor& x,
                             [[maybe_unused]] const at::Tensor& weights,
                             [[maybe_unused]] const at::Tensor& ends) {
#if PL_TORCH_AT_LEAST(2, 9)
  return at::_grouped_mm(x, weights.transpose(1, 2), ends);
#else
  TORCH_CHECK(false, "libtorch ", TORCH_VERSION, " has no grouped product");
#endif
}

/// Whether fp32 products, and cuDNN's convolutions, may use TF32.
inline void allow_tf32(bool allow) {
  at::globalContext().setAllowTF32CuBLAS(allow);
  at::globalContext().setAllowTF32CuDNN(allow);
}

/// While it lives, fused attention may be cuDNN's, or is left to the flash and memory-efficient
/// kernels. cuDNN's is the quickest (SAM on an H200: 5.8 ms against 8.5) but makes a plan for each
/// shape it has not seen: good for views, which have few, and bad for decoding, where each step is
/// a new one (64 ms a token against 5).
class CudnnAttention {
 public:
  explicit CudnnAttention([[maybe_unused]] bool allow) {
#if PL_TORCH_AT_LEAST(2, 4)
    at::globalContext().setSDPUseCuDNN(allow);
#endif
  }
  CudnnAttention(const CudnnAttention&) = delete;
  CudnnAttention& operator=(const CudnnAttention&) = delete;
  ~CudnnAttention() {
#if PL_TORCH_AT_LEAST(2, 4)
    at::globalContext().setSDPUseCuDNN(before_);
#endif
  }

 private:
#if PL_TORCH_AT_LEAST(2, 4)
  bool before_ = at::globalContext().userEnabledCuDNNSDP();
#endif
};

/// A generator of the device's kind with this seed, apart from the process's own.
inline at::Generator seeded_generator(at::Device device, std::uint64_t seed) {
  // Not a copy here: libtorch 1.13 loses the memory of each.
  if (device.is_cpu()) return at::detail::createCPUGenerator(seed);
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(seed);
  return generator;
}

}  // namespace profline::workload::compat
