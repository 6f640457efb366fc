#include "workload/model/decoder.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "workload/model/attention.h"
#include "workload/model/torch_compat.h"

namespace profline::workload {
namespace {

// Up to this many tokens, gathering the chosen experts' weights is cheaper than sorting tokens for
// all experts.
constexpr std::int64_t kFewTokens = 4;

/// Σ weight · output over each token's experts, in fp32: outputs [T, k, D] → [T, D].
at::Tensor combine(const at::Tensor& outputs, const at::Tensor& weights) {
  return (outputs * weights.unsqueeze(-1)).sum(1).to(outputs.scalar_type());
}

/// Rows of `x` up to ends[e], from where expert e−1's ended, times weights[e]ᵀ.
at::Tensor grouped_product(const at::Tensor& x, const at::Tensor& weights, const at::Tensor& ends) {
  if (compat::has_grouped_mm(x, weights)) return compat::grouped_mm(x, weights, ends);
  const at::Tensor host_ends = ends.cpu();
  const auto end_of = host_ends.accessor<std::int32_t, 1>();
  at::Tensor product = at::empty({x.size(0), weights.size(1)}, x.options());
  std::int64_t first = 0;
  for (std::int64_t expert = 0; expert < weights.size(0); ++expert) {
    const std::int64_t count = end_of[expert] - first;
    if (count == 0) continue;
    at::Tensor rows = product.narrow(0, first, count);
    at::mm_out(rows, x.narrow(0, first, count), weights.select(0, expert).t());
    first += count;
  }
  return product;
}

}  // namespace

Moe::Moe(TensorLoader& loader, const std::string& prefix, const DeepseekOcrConfig& config)
    : experts_per_token_(config.num_experts_per_tok),
      normalise_(config.norm_topk_prob && config.num_experts_per_tok > 1),
      scaling_(config.routed_scaling_factor) {
  const std::int64_t width = config.hidden_size;
  const std::int64_t inner = config.moe_intermediate_size;
  const std::int64_t experts = config.n_routed_experts;
  router_ = loader.fp32_tensor(prefix + ".gate.weight", {experts, width});
  gate_up_ = loader.allocate({experts, 2 * inner, width}, loader.options().dtype);
  down_ = loader.allocate({experts, width, inner}, loader.options().dtype);
  for (std::int64_t e = 0; e < experts; ++e) {
    const std::string expert = prefix + ".experts." + std::to_string(e);
    loader.fill(expert + ".gate_proj.weight", gate_up_.select(0, e).narrow(0, 0, inner));
    loader.fill(expert + ".up_proj.weight", gate_up_.select(0, e).narrow(0, inner, inner));
    loader.fill(expert + ".down_proj.weight", down_.select(0, e));
  }
  shared_ = loader.gated_mlp(prefix + ".shared_experts", width, config.shared_intermediate_size());
}

Routing Moe::route(const at::Tensor& x) const {
  const at::Tensor scores = at::softmax(at::linear(x.to(at::kFloat), router_), -1);
  auto [weights, experts] = at::topk(scores, experts_per_token_, -1, /*largest=*/true,
                                     /*sorted=*/false);
  if (normalise_) return {experts, weights / (weights.sum(-1, /*keepdim=*/true) + 1e-20)};
  if (scaling_ != 1.0) return {experts, weights * scaling_};
  return {experts, weights};
}

at::Tensor Moe::routed_by_gather(const at::Tensor& x, const Routing& routing) const {
  const auto tokens = x.size(0);
  const auto width = x.size(1);
  const auto k = routing.experts.size(1);
  const at::Tensor chosen = routing.experts.flatten();
  // A token's experts side by side form one matrix: one product for all of them.
  const at::Tensor gate_up = gate_up_.index_select(0, chosen).view({tokens, -1, width});
  const at::Tensor inner = at::bmm(gate_up, x.unsqueeze(-1)).view({tokens * k, -1});
  const at::Tensor down = down_.index_select(0, chosen);
  const at::Tensor outputs = at::bmm(down, swiglu(inner).unsqueeze(-1));
  return combine(outputs.view({tokens, k, width}), routing.weights);
}

at::Tensor Moe::routed_by_group(const at::Tensor& x, const Routing& routing) const {
  const auto tokens = x.size(0);
  const auto k = routing.experts.size(1);
  const auto [sorted, order] = routing.experts.flatten().sort();
  const at::Tensor each = at::arange(gate_up_.size(0), sorted.options());
  const at::Tensor ends = at::searchsorted(sorted, each, /*out_int32=*/true, /*right=*/true);
  const at::Tensor rows = x.index_select(0, order.div(k, "floor"));
  const at::Tensor inner = swiglu(grouped_product(rows, gate_up_, ends));
  const at::Tensor by_expert = grouped_product(inner, down_, ends);
  at::Tensor outputs = at::empty_like(by_expert);
  outputs.index_copy_(0, order, by_expert);
  return combine(outputs.view({tokens, k, -1}), routing.weights);
}

at::Tensor Moe::operator()(const at::Tensor& x, const Routing& routing) const {
  // On a CPU reading the counts is free but copying weights is not; on the meta device there are no
  // counts, and gathering is the same arithmetic.
  const bool gather = x.is_meta() || (x.is_cuda() && x.size(0) <= kFewTokens);
  const at::Tensor routed = gather ? routed_by_gather(x, routing) : routed_by_group(x, routing);
  return routed + shared_(x);
}

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

at::Tensor Decoder::attention(std::int64_t index, const at::Tensor& x,
                              const std::optional<Places>& places, KvCache& cache) const {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const auto tokens = x.size(1);
  const at::Tensor qkv = at::linear(layer.attention_norm(x), layer.qkv)
                             .view({x.size(0), tokens, heads_ + 2 * kv_heads_, head_dim_});
  const at::Tensor unrotated = qkv.narrow(2, 0, heads_ + kv_heads_);
  const at::Tensor rotated = places ? rope_(unrotated, places->positions, cache.length() + tokens)
                                    : rope_(unrotated, cache.length());
  const at::Tensor q = rotated.narrow(2, 0, heads_).to(x.scalar_type()).transpose(1, 2);
  const at::Tensor k = rotated.narrow(2, heads_, kv_heads_).transpose(1, 2);
  const at::Tensor v = qkv.narrow(2, heads_ + kv_heads_, kv_heads_).transpose(1, 2);
  const auto [keys, values] = cache.append(index, k, v);
  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim_));
  const Masking masking = tokens > 1 ? Masking::Causal : Masking::None;
  const at::Tensor attended = places ? attend_masked(q, keys, values, places->mask, scale, fused_)
                                     : attend(q, keys, values, scale, masking, fused_);
  return at::linear(join_heads(attended), layer.out);
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
  std::optional<Places> places;
  if (cache.is_padded()) places = cache.places(tokens);
  at::Tensor hidden = x;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(layers_.size()); ++i) {
    hidden = hidden + attention(i, hidden, places, cache);
    hidden = hidden + mlp(i, hidden);
  }
  cache.advance(tokens);
  return at::linear(norm_(hidden.select(1, tokens - 1)), head_).to(at::kFloat);
}

}  // namespace profline::workload
