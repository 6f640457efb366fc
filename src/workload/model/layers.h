#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/error.h"
#include "records/range_use.h"
#include "workload/model/weight_source.h"

namespace profline::workload {

/// The named parts of a run, used by NVTX ranges, RECORD_FUNCTION scopes and times alike. `prefill`
/// contains sam, clip, projector and lm; `decode` contains one decode_step per token.
namespace scope {
constexpr const char* kPrefill = "prefill";
constexpr const char* kSam = "sam";
constexpr const char* kClip = "clip";
constexpr const char* kProjector = "projector";
constexpr const char* kLm = "lm";
constexpr const char* kDecode = "decode";
constexpr const char* kDecodeStep = kTokenRange.data();
}  // namespace scope

/// Notified when a named part of the run begins and ends, properly nested. This one does nothing;
/// measuring classes derive from it.
class Scopes {
 public:
  virtual ~Scopes() = default;
  /// `name` is one of those above and outlives everything.
  virtual void enter(const char* name) { static_cast<void>(name); }
  virtual void leave() {}
};

/// One part, from here to the end of the block.
class Scope {
 public:
  Scope(Scopes& scopes, const char* name) : scopes_(scopes) { scopes_.enter(name); }
  ~Scope() { scopes_.leave(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Scopes& scopes_;
};

/// Where and in which precision the model computes.
struct ModelOptions {
  at::Device device = at::kCPU;
  /// Of weights and activations. Norms, softmax, router and RoPE tables are always fp32.
  at::ScalarType dtype = at::kFloat;
  /// Attention as one fused operator; false: as separate ones (`use_flash_attn`).
  bool fused_attention = true;
  /// Lets fp32 products use TF32, also in cuDNN.
  bool allow_tf32 = false;
};

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

/// Creates the model's tensors from a source. The first failure is kept and everything after it
/// skipped, so that modules read as lists of their parts; check `error()` at the end.
class TensorLoader {
 public:
  TensorLoader(WeightSource& source, const ModelOptions& options)
      : source_(source), options_(options) {}

  const ModelOptions& options() const { return options_; }
  const std::optional<Error>& error() const { return error_; }

  at::Tensor tensor(const std::string& name, at::IntArrayRef shape);
  /// In fp32, whatever the model's dtype is.
  at::Tensor fp32_tensor(const std::string& name, at::IntArrayRef shape);
  /// Several matrices with this many rows each, stacked in one tensor.
  at::Tensor stacked_rows(const std::vector<std::string>& names,
                          const std::vector<std::int64_t>& rows, std::int64_t columns);

  /// `name.weight` [out, in] and `name.bias`.
  Linear linear(const std::string& name, std::int64_t out, std::int64_t in);
  /// `name.weight` and `name.bias`.
  LayerNorm layer_norm(const std::string& name, std::int64_t width, double eps);
  RmsNorm rms_norm(const std::string& name, std::int64_t width, double eps);
  /// `prefix.gate_proj`, `up_proj` and `down_proj`.
  GatedMlp gated_mlp(const std::string& prefix, std::int64_t width, std::int64_t inner);

  at::Tensor allocate(at::IntArrayRef shape, at::ScalarType dtype) const;
  void fill(const std::string& name, const at::Tensor& destination);

 private:
  WeightSource& source_;
  ModelOptions options_;
  std::optional<Error> error_;
};

}  // namespace profline::workload
