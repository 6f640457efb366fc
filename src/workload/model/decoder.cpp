#include "workload/model/decoder.h"

#include <cmath>
#include <string>

#include "base/assert.h"
#include "workload/model/attention.h"
#include "workload/model/torch_compat.h"

namespace profline::workload {

Decoder::Decoder(TensorLoader& loader, const DeepseekOcrConfig& config)
    : heads_(config.num_attention_heads),
      kv_heads_(config.num_key_value_heads),
      head_dim_(config.head_dim()),
      fused_(loader.options().fused_attention),
      rope_(config.head_dim(), config.rope_theta, config.max_position_embeddings,
            loader.options().device) {
  const std::int64_t width = config.hidden_size;
  const std::int64_t query_rows = heads_ * head_dim_;
  const std::int64_t key_rows = kv_heads_ * head_dim_;
  embedding_ = loader.tensor("model.embed_tokens.weight", {config.vocab_size, width});
  for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
    const std::string prefix = "model.layers." + std::to_string(i);
    const std::string attention = prefix + ".self_attn.";
    Layer layer;
    layer.attention_norm = loader.rms_norm(prefix + ".input_layernorm", width, config.rms_norm_eps);
    layer.mlp_norm =
        loader.rms_norm(prefix + ".post_attention_layernorm", width, config.rms_norm_eps);
    layer.qkv = loader.stacked_rows(
        {attention + "q_proj.weight", attention + "k_proj.weight", attention + "v_proj.weight"},
        {query_rows, key_rows, key_rows}, width);
    layer.out = loader.tensor(attention + "o_proj.weight", {width, query_rows});
    layer.is_moe = config.is_moe_layer(i);
    if (layer.is_moe) {
      layer.moe = Moe(loader, prefix + ".mlp", config);
    } else {
      layer.dense = loader.gated_mlp(prefix + ".mlp", width, config.intermediate_size);
    }
    layers_.push_back(std::move(layer));
  }
  norm_ = loader.rms_norm("model.norm", width, config.rms_norm_eps);
  head_ = loader.tensor("lm_head.weight", {config.vocab_size, width});
}

at::Tensor Decoder::embed(const at::Tensor& ids) const {
  return at::embedding(embedding_, ids);
}

at::Tensor Decoder::attention(std::int64_t index, const at::Tensor& x, KvCache& cache) const {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const auto tokens = x.size(1);
  const at::Tensor qkv = at::linear(layer.attention_norm(x), layer.qkv)
                             .view({x.size(0), tokens, heads_ + 2 * kv_heads_, head_dim_});
  const at::Tensor rotated = rope_(qkv.narrow(2, 0, heads_ + kv_heads_), cache.length());
  const at::Tensor q = rotated.narrow(2, 0, heads_).to(x.scalar_type()).transpose(1, 2);
  const at::Tensor k = rotated.narrow(2, heads_, kv_heads_).transpose(1, 2);
  const at::Tensor v = qkv.narrow(2, heads_ + kv_heads_, kv_heads_).transpose(1, 2);
  const auto [keys, values] = cache.append(index, k, v);
  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim_));
  const Masking masking = tokens > 1 ? Masking::Causal : Masking::None;
  return at::linear(join_heads(attend(q, keys, values, scale, masking, fused_)), layer.out);
}

at::Tensor Decoder::mlp(std::int64_t index, const at::Tensor& x) const {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const at::Tensor rows = layer.mlp_norm(x).flatten(0, 1);
  if (!layer.is_moe) return layer.dense(rows).view(x.sizes());
  const Routing routing = layer.moe.route(rows);
  if (watcher_) watcher_(index, routing);
  return layer.moe(rows, routing).view(x.sizes());
}

at::Tensor Decoder::forward(const at::Tensor& x, KvCache& cache) const {
  const auto tokens = x.size(1);
  PL_ASSERT(tokens == 1 || cache.length() == 0, "several tokens go into an empty cache");
  const compat::CudnnAttention none(false);
  at::Tensor hidden = x;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(layers_.size()); ++i) {
    hidden = hidden + attention(i, hidden, cache);
    hidden = hidden + mlp(i, hidden);
  }
  cache.advance(tokens);
  return at::linear(norm_(hidden.select(1, tokens - 1)), head_).to(at::kFloat);
}

}  // namespace profline::workload
