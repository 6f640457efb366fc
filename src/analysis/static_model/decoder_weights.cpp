#include "analysis/static_model/internal/decoder_weights.h"

namespace profline::static_model {
namespace internal {
namespace {

Weights plain_attention(const Decoder& d) {
  const Count q = Count(d.heads) * d.head_dim;
  const Count kv = Count(d.kv_heads) * d.head_dim;
  const Count inputs = d.fused_projections ? 1 : 3;
  Weights weights{d.layers, Count(d.hidden) * (q + Count(2) * kv) + q * d.hidden};
  weights.tensors = inputs + 1;
  if (d.qkv_bias) {
    weights.bias += q + Count(2) * kv;
    weights.tensors += inputs;
  }
  if (d.output_bias) {
    weights.bias += Count(d.hidden);
    weights.tensors += 1;
  }
  return weights;
}

Weights latent_attention(const Decoder& d, const LatentAttention& l) {
  const Count heads = d.heads;
  const Count q = heads * (Count(l.nope_dim) + l.rope_dim);
  const Count compressed = Count(l.kv_rank) + l.rope_dim;
  const bool is_one_step = l.q_rank == 0;
  Weights weights{d.layers, is_one_step ? Count(d.hidden) * q
                                        : Count(d.hidden) * l.q_rank + Count(l.q_rank) * q};
  weights.tensors = is_one_step ? 4 : 5;
  weights.matrix += Count(d.hidden) * compressed;
  weights.matrix += Count(l.kv_rank) * heads * (Count(l.nope_dim) + l.value_dim);
  weights.matrix += heads * l.value_dim * d.hidden;
  if (d.qkv_bias) {
    weights.bias += compressed + l.q_rank;
    weights.tensors += is_one_step ? 1 : 2;
  }
  if (d.output_bias) {
    weights.bias += Count(d.hidden);
    weights.tensors += 1;
  }
  return weights;
}

/// Norms inside of one layer's attention.
struct AttentionNorms {
  Count parameters;
  Count tensors;
};
AttentionNorms attention_norms(const Decoder& d) {
  if (d.latent) {
    const bool is_one_step = d.latent->q_rank == 0;
    return {Count(d.latent->kv_rank) + d.latent->q_rank, is_one_step ? 1U : 2U};
  }
  if (d.qk_norm) return {Count(2) * d.head_dim, 2};
  return {};
}

Count norm_tensor_count(const Decoder& d) {
  const Count last = d.final_norm ? d.norm_tensors : 0;
  return Count(d.layers) * (Count(d.block_norms) * d.norm_tensors + attention_norms(d).tensors) +
         last;
}

void add_expert_groups(const Decoder& d, std::vector<ParameterGroup>& groups) {
  if (!d.experts || d.expert_layers == 0) return;
  const Experts& e = *d.experts;
  groups.push_back(router_weights(d).group("routers"));
  if (e.router_bias) {
    groups.push_back(
        {"router biases", d.expert_layers, Count(d.expert_layers) * e.routed, {}, true});
  }
  Weights experts = expert_weights(d);
  experts.layers = experts.layers * e.routed;
  groups.push_back(experts.group("routed experts"));
  if (e.shared_width > 0) groups.push_back(shared_weights(d).group("shared experts"));
}

}  // namespace

ParameterGroup Weights::group(std::string name) const {
  return {std::move(name), layers * tensors, parameters(),
          is_quantized ? layers * matrix : Count()};
}

Weights attention_weights(const Decoder& decoder) {
  return decoder.latent ? latent_attention(decoder, *decoder.latent) : plain_attention(decoder);
}

Weights network_weights(const Decoder& decoder, std::uint64_t width, Count layers, bool bias) {
  const Count inputs = decoder.gated ? 2 : 1;
  const Count input_tensors = decoder.fused_projections ? Count(1) : inputs;
  Weights weights{layers, (inputs + 1) * decoder.hidden * width};
  weights.tensors = input_tensors + 1;
  if (!bias) return weights;
  weights.bias = inputs * width + decoder.hidden;
  weights.tensors = weights.tensors * 2;
  return weights;
}

Weights dense_weights(const Decoder& decoder) {
  return network_weights(decoder, decoder.dense_width, decoder.layers - decoder.expert_layers,
                         decoder.mlp_bias);
}

Weights router_weights(const Decoder& decoder) {
  return {decoder.expert_layers, Count(decoder.hidden) * decoder.experts->routed, {}, 1, false};
}

Weights expert_weights(const Decoder& decoder) {
  return network_weights(decoder, decoder.experts->width, decoder.expert_layers, false);
}

Weights shared_weights(const Decoder& decoder) {
  return network_weights(decoder, decoder.experts->shared_width, decoder.expert_layers,
                         decoder.mlp_bias);
}

Count norm_parameters(const Decoder& d) {
  const Count norm = Count(d.norm_tensors) * d.hidden;
  const Count last = d.final_norm ? norm : Count();
  return Count(d.layers) * (Count(d.block_norms) * norm + attention_norms(d).parameters) + last;
}

Count embedding_projection(const Decoder& decoder) {
  return Count(decoder.embedding_width) * decoder.hidden;
}

}  // namespace internal

std::vector<ParameterGroup> parameter_groups(const Decoder& d) {
  const Count table = Count(d.vocabulary) * d.table_width();
  std::vector<ParameterGroup> groups;
  groups.push_back({"embedding", 1, table});
  if (d.position_rows > 0) groups.push_back({"positions", 1, Count(d.position_rows) * d.hidden});
  groups.push_back(internal::attention_weights(d).group("attention"));
  if (d.layers > d.expert_layers) {
    groups.push_back(internal::dense_weights(d).group("dense feed-forward"));
  }
  internal::add_expert_groups(d, groups);
  groups.push_back({"norms", internal::norm_tensor_count(d), internal::norm_parameters(d)});
  if (d.embedding_width > 0) {
    const Count both = Count(2) * internal::embedding_projection(d);
    groups.push_back({"embedding projections", 2, both, both});
  }
  if (!d.tied_head) groups.push_back({"lm_head", 1, table});
  groups.insert(groups.end(), d.other_parts.begin(), d.other_parts.end());
  return groups;
}

}  // namespace profline::static_model
