#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "records/deepseek_ocr_config.h"
#include "workload/model/attention.h"
#include "workload/model/layers.h"

namespace profline::workload {

/// Which experts each token goes to.
struct Routing {
  at::Tensor experts;  // [T, k] int64, in no order
  at::Tensor weights;  // [T, k] fp32
};

/// A layer's experts: `k` of `E` for each token, and the shared ones for all.
class Moe {
 public:
  Moe() = default;
  Moe(TensorLoader& loader, const std::string& prefix, const DeepseekOcrConfig& config);

  /// x [T, D] → [T, D].
  at::Tensor operator()(const at::Tensor& x, const Routing& routing) const;
  Routing route(const at::Tensor& x) const;

  /// Gathers the chosen experts' weights, with one small product each: the same few launches
  /// however many experts there are, and no synchronisation with the device. Costs a copy of those
  /// weights.
  at::Tensor routed_by_gather(const at::Tensor& x, const Routing& routing) const;
  /// Sorts tokens by expert, with one product for each expert's tokens. If libtorch has no grouped
  /// product, the counts are copied to the host once.
  at::Tensor routed_by_group(const at::Tensor& x, const Routing& routing) const;

  const at::Tensor& router() const { return router_; }
  const at::Tensor& gate_up() const { return gate_up_; }
  const at::Tensor& down() const { return down_; }
  const GatedMlp& shared() const { return shared_; }

 private:
  at::Tensor router_;   // [E, D] fp32
  at::Tensor gate_up_;  // [E, 2I, D]
  at::Tensor down_;     // [E, D, I]
  GatedMlp shared_;
  std::int64_t experts_per_token_ = 0;
  bool normalise_ = false;
  double scaling_ = 1.0;
};

/// Called with what each layer's router chose; reading the tensors synchronises with the device.
using RoutingWatcher = std::function<void(std::int64_t layer, const Routing& routing)>;

/// The language model: embedding, layers, final norm, head.
class Decoder {
 public:
  Decoder() = default;
  Decoder(TensorLoader& loader, const DeepseekOcrConfig& config);

  /// ids [B, T] int64 on the device → [B, T, D].
  at::Tensor embed(const at::Tensor& ids) const;
  /// Runs T tokens after those in the cache, and adds them to it: x [B, T, D] → the last token's
  /// logits, [B, vocabulary] fp32. More than one token only into an empty cache, which may be
  /// padded.
  at::Tensor forward(const at::Tensor& x, KvCache& cache) const;

  void watch_routing(RoutingWatcher watcher) { watcher_ = std::move(watcher); }

  struct Layer {
    RmsNorm attention_norm, mlp_norm;
    at::Tensor qkv;  // [(H + 2K) d, D]
    at::Tensor out;  // [D, H d]
    bool is_moe = false;
    GatedMlp dense;
    Moe moe;
  };
  /// Its weights, for other implementations of the same computation.
  const std::vector<Layer>& layers() const { return layers_; }
  const at::Tensor& embedding() const { return embedding_; }
  const RmsNorm& norm() const { return norm_; }
  const at::Tensor& head() const { return head_; }

 private:
  /// `places` if the cache is padded.
  at::Tensor attention(std::int64_t index, const at::Tensor& x, const std::optional<Places>& places,
                       KvCache& cache) const;
  at::Tensor mlp(std::int64_t index, const at::Tensor& x) const;

  std::int64_t heads_ = 0;
  std::int64_t kv_heads_ = 0;
  std::int64_t head_dim_ = 0;
  bool fused_ = true;
  at::Tensor embedding_;  // [vocabulary, D]
  std::vector<Layer> layers_;
  RmsNorm norm_;
  at::Tensor head_;  // [vocabulary, D]
  Rope rope_;
  RoutingWatcher watcher_;
};

}  // namespace profline::workload
