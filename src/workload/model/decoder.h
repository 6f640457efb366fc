#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <ATen/ATen.h>

#include "records/deepseek_ocr_config.h"
#include "workload/model/kv_cache.h"
#include "workload/model/layers.h"
#include "workload/model/moe.h"
#include "workload/model/rope.h"
#include "workload/model/tensor_loader.h"

namespace profline::workload {

/// Is told what each layer's router chose; reading the tensors stops the device.
using RoutingWatcher = std::function<void(std::int64_t layer, const Routing& routing)>;

/// The language model: embedding, layers, final norm, head.
class Decoder {
 public:
  Decoder() = default;
  Decoder(TensorLoader& loader, const DeepseekOcrConfig& config);

  /// ids [B, T] int64 on the device → [B, T, D].
  at::Tensor embed(const at::Tensor& ids) const;
  /// Runs T tokens behind those in the cache, which then holds them too: x [B, T, D] → the last
  /// token's logits, [B, vocabulary] fp32. More than one token only into an empty cache.
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
  /// Its weights, for those who compute the same in another way.
  const std::vector<Layer>& layers() const { return layers_; }
  const at::Tensor& embedding() const { return embedding_; }
  const RmsNorm& norm() const { return norm_; }
  const at::Tensor& head() const { return head_; }

 private:
  at::Tensor attention(std::int64_t index, const at::Tensor& x, KvCache& cache) const;
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
