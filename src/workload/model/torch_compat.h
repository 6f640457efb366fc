#pragma once

// The only file that handles differences between versions of libtorch: 1.13 (Debian 12, CPU) and
// 2.x (tested: 2.11, CUDA).

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/version.h>

#define PL_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||     \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace profline::workload::compat {

/// softmax(scale q kᵀ + mask) v by libtorch's fused operator; [B, H, N, d] each. `mask` has the
/// dtype of q and a shape that expands to the scores'; nothing: no mask.
inline at::Tensor scaled_dot_product_attention(const at::Tensor& q, const at::Tensor& k,
                                               const at::Tensor& v, bool causal, double scale,
                                               const c10::optional<at::Tensor>& mask = {}) {
#if PL_TORCH_AT_LEAST(2, 1)
  return at::scaled_dot_product_attention(q, k, v, mask, 0.0, causal, scale);
#else
  // Its scale is always 1/√d, so q compensates for the difference.
  const double own = 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
  const at::Tensor scaled = scale == own ? q : q * (scale / own);
  return std::get<0>(at::_scaled_dot_product_attention(scaled, k, v, mask, 0.0, false, causal));
#endif
}

/// x / √(mean(x²) + eps) · weight over the last dimension, in fp32; x's dtype.
inline at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
#if PL_TORCH_AT_LEAST(2, 9)  // a single kernel from this version on
  return at::rms_norm(x, weight.sizes(), weight, eps);
#else
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor scale = wide.square().mean(-1, /*keepdim=*/true).add_(eps).rsqrt_();
  return (wide * scale).to(x.scalar_type()) * weight;
#endif
}

/// Whether `grouped_mm` accepts these: rows of `x` [M, K] and `weights` [E, N, K].
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
/// and on the device, so no synchronisation is needed.
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

/// The call that multiplies [M, K] by [K, N], the second stored as [N, K], rounded to fp8 (e4m3),
/// with bf16 as result; `fast`: accumulated less exactly. Its arguments differ between versions of
/// libtorch, so they are passed by name.
inline std::function<void()> scaled_product([[maybe_unused]] const at::Tensor& a,
                                            [[maybe_unused]] const at::Tensor& b,
                                            [[maybe_unused]] bool fast) {
#if PL_TORCH_AT_LEAST(2, 1)
  const auto found = c10::Dispatcher::singleton().findSchema({"aten::_scaled_mm", ""});
  TORCH_CHECK(found.has_value(), "libtorch ", TORCH_VERSION, " has no product of fp8");
  const std::map<std::string, c10::IValue> values = {
      {"self", a.to(at::kFloat8_e4m3fn)},
      {"mat2", b.t().to(at::kFloat8_e4m3fn).t()},
      {"scale_a", at::ones({}, a.options().dtype(at::kFloat))},
      {"scale_b", at::ones({}, a.options().dtype(at::kFloat))},
      {"out_dtype", static_cast<std::int64_t>(at::kBFloat16)},
      {"use_fast_accum", fast}};
  std::vector<c10::IValue> arguments;
  for (const c10::Argument& argument : found->schema().arguments()) {
    const auto known = values.find(argument.name());
    arguments.push_back(known != values.end() ? known->second
                                              : argument.default_value().value_or(c10::IValue()));
  }
  return [found, arguments] {
    c10::Stack stack = arguments;
    found->callBoxed(stack);
  };
#else
  TORCH_CHECK(false, "libtorch ", TORCH_VERSION, " has no product of fp8");
#endif
}

/// While it lives, fused attention may use cuDNN, or is restricted to the flash and
/// memory-efficient kernels. cuDNN is the fastest (SAM on an H200: 5.8 ms instead of 8.5) but
/// builds a plan for each new shape: good for views, which have few shapes, and bad for decoding,
/// where each step is a new one (64 ms per token instead of 5).
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

/// A generator of the device's kind with this seed, separate from the process's own.
inline at::Generator seeded_generator(at::Device device, std::uint64_t seed) {
  // No copy here: libtorch 1.13 leaks the memory of each.
  if (device.is_cpu()) return at::detail::createCPUGenerator(seed);
  at::Generator generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(seed);
  return generator;
}

}  // namespace profline::workload::compat
