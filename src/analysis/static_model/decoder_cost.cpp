#include <algorithm>
#include <cmath>

#include "analysis/static_model/decoder.h"

namespace profline::static_model {
namespace {

/// A pass over some tokens, which both prefill and decode steps are.
struct Pass {
  const Decoder& decoder;
  const NumberFormat& format;
  Count tokens;          // of the whole batch, all steps
  Count head_rows;       // positions the head computes logits for
  std::uint64_t passes;  // how often weights are read
  std::uint64_t tokens_a_pass;
};

Count bytes(const Pass& pass, Count elements) {
  return elements * pass.format.bytes;
}

/// Products of all tokens with `parameters` weights in each of `layers` layers. `in` and `out` are
/// elements per token in one layer.
OperatorCost linear(const Pass& pass, std::string name, Count layers, Count matrix, Count bias,
                    Count in, Count out) {
  OperatorCost cost;
  cost.name = std::move(name);
  cost.parameters = layers * (matrix + bias);
  cost.flops = Count(2) * layers * matrix * pass.tokens;
  cost.weight_bytes = bytes(pass, cost.parameters) * pass.passes;
  cost.activation_bytes = bytes(pass, layers * (in + out) * pass.tokens);
  return cost;
}

/// Elements and biases of an attention layer's projections.
struct Projections {
  Count matrix;
  Count bias;
  Count norm;
  Count in_out;  // elements read and written per token
};

Projections plain_projections(const Decoder& d) {
  const Count q = Count(d.heads) * d.head_dim;
  const Count kv = Count(d.kv_heads) * d.head_dim;
  Projections sizes;
  sizes.matrix = Count(d.hidden) * (q + Count(2) * kv) + q * d.hidden;
  if (d.qkv_bias) sizes.bias += q + Count(2) * kv;
  if (d.output_bias) sizes.bias += Count(d.hidden);
  if (d.qk_norm) sizes.norm = Count(2) * d.head_dim;
  sizes.in_out = Count(d.hidden) + q + Count(2) * kv + q + d.hidden;
  return sizes;
}

Projections latent_projections(const Decoder& d, const LatentAttention& l) {
  const Count heads = d.heads;
  const Count q = heads * (Count(l.nope_dim) + l.rope_dim);
  const Count values = heads * l.value_dim;
  const Count compressed = Count(l.kv_rank) + l.rope_dim;
  Projections sizes;
  if (l.q_rank == 0) {
    sizes.matrix = Count(d.hidden) * q;
  } else {
    sizes.matrix = Count(d.hidden) * l.q_rank + Count(l.q_rank) * q;
    sizes.norm += Count(l.q_rank);
    if (d.qkv_bias) sizes.bias += Count(l.q_rank);
  }
  sizes.matrix += Count(d.hidden) * compressed;
  sizes.matrix += Count(l.kv_rank) * heads * (Count(l.nope_dim) + l.value_dim);
  sizes.matrix += values * d.hidden;
  sizes.norm += Count(l.kv_rank);
  if (d.qkv_bias) sizes.bias += compressed;
  if (d.output_bias) sizes.bias += Count(d.hidden);
  sizes.in_out = Count(d.hidden) + q + compressed + heads * (Count(l.nope_dim) + l.value_dim) +
                 values + d.hidden;
  return sizes;
}

Projections projections(const Decoder& decoder) {
  return decoder.latent ? latent_projections(decoder, *decoder.latent) : plain_projections(decoder);
}

/// Elements of the cache for one token in one layer.
Count cache_elements(const Decoder& d) {
  if (d.latent) return Count(d.latent->kv_rank) + d.latent->rope_dim;
  return Count(2) * d.kv_heads * d.head_dim;
}

/// FLOPs of one query with one key, and with its value.
Count flops_a_pair(const Decoder& d, ModelPhase phase) {
  if (!d.latent) return Count(4) * d.heads * d.head_dim;
  const LatentAttention& l = *d.latent;
  // Prefill expands keys and values; decode works on the latent vectors, with the expansion moved
  // to the other side of the products.
  if (phase == ModelPhase::Prefill) {
    return Count(2) * d.heads * (Count(l.nope_dim) + l.rope_dim + l.value_dim);
  }
  return Count(2) * d.heads * (Count(2) * l.kv_rank + l.rope_dim);
}

/// 1 + 2 + ... + n.
Count triangle(std::uint64_t n) {
  return n % 2 == 0 ? Count(n / 2) * (Count(n) + 1) : Count(n) * (Count(n / 2) + 1);
}

/// Keys that `steps` tokens attend to: the first token to `first`, each later one to one more, up
/// to the window.
Count keys_seen(std::uint64_t first, std::uint64_t steps,
                const std::optional<std::uint64_t>& window) {
  const std::uint64_t growing =
      window ? std::min(steps, *window > first ? *window - first : 0) : steps;
  // first + (first + 1) + ...: `growing` of them.
  const Count before = growing == 0 ? Count() : Count(growing) * first + triangle(growing - 1);
  if (growing == steps) return before;
  return before + Count(steps - growing) * *window;
}

/// Query-key pairs of one sequence's prompt.
Count prompt_pairs(std::uint64_t tokens, AttentionCount attention,
                   const std::optional<std::uint64_t>& window) {
  if (attention == AttentionCount::Square) return Count(tokens) * tokens;
  return keys_seen(1, tokens, window);
}

/// Elements of queries, keys, values and the result of one token in one layer.
Count attention_elements(const Decoder& d) {
  if (d.latent) {
    const LatentAttention& l = *d.latent;
    return Count(d.heads) *
           (Count(2) * l.nope_dim + Count(2) * l.rope_dim + Count(2) * l.value_dim);
  }
  return Count(2) * d.heads * d.head_dim + Count(2) * d.kv_heads * d.head_dim;
}

OperatorCost embedding(const Pass& pass) {
  const Decoder& d = pass.decoder;
  OperatorCost cost;
  cost.name = "embedding";
  cost.parameters = Count(d.vocabulary) * d.hidden;
  // One row per token is read and written, not the whole table.
  cost.activation_bytes = bytes(pass, Count(2) * d.hidden * pass.tokens);
  return cost;
}

OperatorCost norms(const Pass& pass) {
  const Decoder& d = pass.decoder;
  const Projections sizes = projections(d);
  OperatorCost cost;
  cost.name = "norms";
  cost.parameters = Count(d.layers) * (Count(2) * d.hidden + sizes.norm) + d.hidden;
  cost.weight_bytes = bytes(pass, cost.parameters) * pass.passes;
  const Count rows = (Count(2) * d.layers + 1) * pass.tokens;
  cost.activation_bytes = bytes(pass, Count(2) * d.hidden * rows);
  return cost;
}

OperatorCost head(const Pass& pass) {
  const Decoder& d = pass.decoder;
  OperatorCost cost;
  cost.name = "lm_head";
  const Count matrix = Count(d.vocabulary) * d.hidden;
  // A tied head shares the embedding's weights, but reads all of them.
  cost.parameters = d.tied_head ? Count() : matrix;
  cost.flops = Count(2) * matrix * pass.head_rows;
  cost.weight_bytes = bytes(pass, matrix) * pass.passes;
  cost.activation_bytes = bytes(pass, (Count(d.hidden) + d.vocabulary) * pass.head_rows);
  return cost;
}

void add_feed_forward(const Pass& pass, std::vector<OperatorCost>& operators) {
  const Decoder& d = pass.decoder;
  const Count hidden = d.hidden;
  const std::uint64_t dense = d.layers - d.expert_layers;
  // Each network reads its input, writes gate and up, reads their product and writes its output.
  const auto moved = [&](Count width) { return Count(3) * width; };
  if (dense > 0) {
    const Count bias = d.mlp_bias ? Count(2) * d.dense_width + hidden : Count();
    operators.push_back(linear(pass, "dense feed-forward", dense, Count(3) * hidden * d.dense_width,
                               bias, Count(2) * hidden, moved(d.dense_width)));
  }
  if (!d.experts || d.expert_layers == 0) return;
  const Experts& e = *d.experts;
  const Count layers = d.expert_layers;
  operators.push_back(linear(pass, "router", layers, hidden * e.routed,
                             e.router_bias ? Count(e.routed) : Count(), hidden, e.routed));
  const Count expert = Count(3) * hidden * e.width;
  OperatorCost routed;
  routed.name = "routed experts";
  routed.parameters = layers * e.routed * expert;
  routed.flops = Count(2) * layers * expert * e.chosen * pass.tokens;
  const double experts_read = expected_experts(e.routed, e.chosen, pass.tokens_a_pass);
  routed.weight_bytes = Count(static_cast<std::uint64_t>(std::llround(
                            experts_read * (layers * expert * pass.format.bytes).as_double()))) *
                        pass.passes;
  routed.activation_bytes =
      bytes(pass, layers * e.chosen * (Count(2) * hidden + moved(e.width)) * pass.tokens);
  operators.push_back(std::move(routed));
  if (e.shared_width > 0) {
    operators.push_back(linear(pass, "shared experts", layers, Count(3) * hidden * e.shared_width,
                               e.shared_gate ? hidden : Count(), Count(2) * hidden,
                               moved(e.shared_width)));
  }
}

/// All operators except attention itself, which goes between the projections and the networks.
PhaseCost pass_cost(const Pass& pass, ModelPhase phase, OperatorCost attention) {
  const Decoder& d = pass.decoder;
  const Projections sizes = projections(d);
  PhaseCost cost;
  cost.phase = phase;
  cost.operators.push_back(embedding(pass));
  cost.operators.push_back(norms(pass));
  cost.operators.push_back(linear(pass, "attention projections", d.layers, sizes.matrix, sizes.bias,
                                  sizes.in_out, Count()));
  cost.operators.push_back(std::move(attention));
  add_feed_forward(pass, cost.operators);
  cost.operators.push_back(head(pass));
  cost.input_bytes = bytes(pass, Count(d.hidden) * pass.tokens);
  cost.output_bytes = bytes(pass, Count(d.vocabulary) * pass.head_rows);
  return cost;
}

// The number of tensors of a layer; latent attention (MLA) computes queries in one step or in two.

std::uint64_t attention_tensors(const Decoder& d) {
  const std::uint64_t output = d.output_bias ? 1 : 0;
  if (!d.latent) return 4U + (d.qkv_bias ? 3U : 0U) + output;
  const std::uint64_t query_steps = d.latent->q_rank == 0 ? 1 : 2;
  return 3U + query_steps + (d.qkv_bias ? query_steps : 0U) + output;
}

std::uint64_t norm_tensors(const Decoder& d) {
  if (d.latent) return d.latent->q_rank == 0 ? 3 : 4;
  return d.qk_norm ? 4 : 2;
}

void add_expert_groups(const Decoder& d, std::vector<ParameterGroup>& groups) {
  if (!d.experts || d.expert_layers == 0) return;
  const Experts& e = *d.experts;
  const Count layers = d.expert_layers;
  const Count hidden = d.hidden;
  groups.push_back({"routers", layers * (e.router_bias ? 2U : 1U),
                    layers * (hidden * e.routed + (e.router_bias ? Count(e.routed) : Count()))});
  groups.push_back(
      {"routed experts", layers * e.routed * 3, layers * e.routed * 3 * hidden * e.width});
  if (e.shared_width == 0) return;
  const Count gate = e.shared_gate ? hidden : Count();
  groups.push_back({"shared experts", layers * (e.shared_gate ? 4U : 3U),
                    layers * (Count(3) * hidden * e.shared_width + gate)});
}

}  // namespace

std::vector<ParameterGroup> parameter_groups(const Decoder& d) {
  const Projections sizes = projections(d);
  const Count dense = d.layers - d.expert_layers;
  const Count hidden = d.hidden;
  const Count table = Count(d.vocabulary) * hidden;
  std::vector<ParameterGroup> groups;
  groups.push_back({"embedding", 1, table});
  groups.push_back({"attention", Count(d.layers) * attention_tensors(d),
                    Count(d.layers) * (sizes.matrix + sizes.bias)});
  if (dense > Count()) {
    const Count bias = d.mlp_bias ? Count(2) * d.dense_width + hidden : Count();
    groups.push_back({"dense feed-forward", dense * (d.mlp_bias ? 6U : 3U),
                      dense * (Count(3) * hidden * d.dense_width + bias)});
  }
  add_expert_groups(d, groups);
  groups.push_back({"norms", Count(d.layers) * norm_tensors(d) + 1,
                    Count(d.layers) * (Count(2) * hidden + sizes.norm) + hidden});
  if (!d.tied_head) groups.push_back({"lm_head", 1, table});
  return groups;
}

PhaseCost prefill_cost(const Decoder& decoder, const NumberFormat& format, const Request& request) {
  const Count tokens = Count(request.prompt_tokens) * request.batch;
  const Count head_rows = request.head == HeadCount::All ? tokens : Count(request.batch);
  const Pass pass{decoder, format, tokens, head_rows, 1, tokens.value()};
  const Count windowed = decoder.window ? Count(decoder.windowed_layers) : Count();
  const Count full = Count(decoder.layers - windowed.value());
  const Count pairs =
      full * prompt_pairs(request.prompt_tokens, request.attention, std::nullopt) +
      windowed * prompt_pairs(request.prompt_tokens, request.attention, decoder.window);
  OperatorCost attention;
  attention.name = "attention";
  attention.flops = flops_a_pair(decoder, ModelPhase::Prefill) * pairs * request.batch;
  attention.activation_bytes =
      bytes(pass, Count(decoder.layers) * attention_elements(decoder) * tokens);
  attention.kv_write_bytes = kv_cache_bytes(decoder, format, request);
  return pass_cost(pass, ModelPhase::Prefill, std::move(attention));
}

PhaseCost decode_cost(const Decoder& decoder, const NumberFormat& format, const Request& request,
                      std::uint64_t first_context, std::uint64_t steps) {
  const Count tokens = Count(steps) * request.batch;
  const Pass pass{decoder, format, tokens, tokens, steps, request.batch};
  const Count windowed = decoder.window ? Count(decoder.windowed_layers) : Count();
  const Count full = Count(decoder.layers - windowed.value());
  const Count pairs = (full * keys_seen(first_context, steps, std::nullopt) +
                       windowed * keys_seen(first_context, steps, decoder.window)) *
                      request.batch;
  OperatorCost attention;
  attention.name = "attention";
  attention.flops = flops_a_pair(decoder, ModelPhase::Decode) * pairs;
  attention.activation_bytes =
      bytes(pass, Count(decoder.layers) * attention_elements(decoder) * tokens);
  attention.kv_read_bytes = bytes(pass, cache_elements(decoder) * pairs);
  attention.kv_write_bytes = bytes(pass, Count(decoder.layers) * cache_elements(decoder) * tokens);
  return pass_cost(pass, ModelPhase::Decode, std::move(attention));
}

Count kv_cache_bytes(const Decoder& decoder, const NumberFormat& format, const Request& request) {
  return Count(decoder.layers) * cache_elements(decoder) * request.prompt_tokens * request.batch *
         format.bytes;
}

ModelCost decoder_cost(const Decoder& decoder, const NumberFormat& format, const Request& request) {
  ModelCost cost;
  cost.model = decoder.model_type;
  cost.format = format;
  cost.groups = parameter_groups(decoder);
  cost.prompt_tokens = request.prompt_tokens;
  cost.new_tokens = request.new_tokens;
  cost.batch = request.batch;
  cost.context = request.decode_context();
  cost.kv_bytes = kv_cache_bytes(decoder, format, request);
  cost.phases.push_back(prefill_cost(decoder, format, request));
  cost.phases.push_back(decode_cost(decoder, format, request, cost.context, 1));
  if (request.new_tokens > 1) {
    cost.all_decode_steps =
        decode_cost(decoder, format, request, request.prompt_tokens + 1, request.new_tokens - 1);
  }
  cost.notes = decoder.notes;
  if (decoder.max_positions > 0 &&
      request.prompt_tokens + request.new_tokens > decoder.max_positions + 1) {
    cost.notes.push_back("prompt and new tokens exceed the model's " +
                         std::to_string(decoder.max_positions) + " positions");
  }
  if (decoder.experts && decoder.expert_layers > 0) {
    cost.notes.push_back(
        "weights of routed experts: as many as even routing is expected to choose");
  }
  return cost;
}

}  // namespace profline::static_model
