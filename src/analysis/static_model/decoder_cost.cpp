#include <algorithm>
#include <cmath>

#include "analysis/static_model/decoder.h"
#include "analysis/static_model/internal/decoder_weights.h"

namespace profline::static_model {
namespace {

using internal::Weights;

/// Passes of the same number of tokens.
struct Passes {
  std::uint64_t count = 1;
  std::uint64_t tokens = 1;  // of each
};

/// A pass over some tokens, which both prefill and decode steps are.
struct Pass {
  const Decoder& decoder;
  const NumberFormat& format;
  Count tokens;          // of the whole batch, all steps
  Count head_rows;       // positions the head computes logits for
  std::uint64_t passes;  // how often weights are read
  std::vector<Passes> sizes;
};

/// Sequences of the same length.
struct Alike {
  SequenceLength length;
  std::uint64_t sequences = 1;
};

std::vector<Alike> alike(const Request& request) {
  if (request.sequences.empty()) {
    return {{{request.prompt_tokens, request.new_tokens}, request.batch}};
  }
  std::vector<Alike> groups;
  for (const SequenceLength& one : request.sequences) {
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const Alike& group) { return group.length == one; });
    if (known != groups.end()) {
      ++known->sequences;
    } else {
      groups.push_back({one, 1});
    }
  }
  return groups;
}

Count bytes(const Pass& pass, Count elements) {
  return elements * pass.format.bytes;
}

/// Products of all tokens with the weights of each layer. `moved` are the elements that are read
/// and written per token in one layer.
OperatorCost linear(const Pass& pass, std::string name, const Weights& weights, Count moved) {
  OperatorCost cost;
  cost.name = std::move(name);
  cost.parameters = weights.parameters();
  cost.flops = Count(2) * weights.layers * weights.matrix * pass.tokens;
  const Count matrices = weights.layers * weights.matrix;
  const Count stored =
      weights.is_quantized ? pass.format.linear_bytes(matrices) : bytes(pass, matrices);
  cost.weight_bytes = (stored + bytes(pass, weights.layers * weights.bias)) * pass.passes;
  cost.activation_bytes = bytes(pass, weights.layers * moved * pass.tokens);
  return cost;
}

/// Elements that the projections of an attention layer read and write per token.
Count projected_elements(const Decoder& d) {
  if (d.latent) {
    const LatentAttention& l = *d.latent;
    const Count q = Count(d.heads) * (Count(l.nope_dim) + l.rope_dim);
    const Count compressed = Count(l.kv_rank) + l.rope_dim;
    const Count expanded = Count(d.heads) * (Count(l.nope_dim) + l.value_dim);
    return Count(2) * d.hidden + q + compressed + expanded + Count(d.heads) * l.value_dim;
  }
  const Count q = Count(d.heads) * d.head_dim;
  return Count(2) * d.hidden + Count(2) * q + Count(2) * d.kv_heads * d.head_dim;
}

/// Elements of the cache for one token in one layer.
Count cache_elements(const Decoder& d) {
  if (d.latent) return Count(d.latent->kv_rank) + d.latent->rope_dim;
  return Count(2) * d.kv_heads * d.head_dim;
}

/// The tokens of a prompt that prefill computes.
std::uint64_t computed_tokens(const Request& request, std::uint64_t prompt_tokens) {
  return prompt_tokens - std::min(request.cached_tokens, prompt_tokens);
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

/// Query-key pairs of the tokens of one sequence's prompt that are not in the cache.
Count prompt_pairs(const Request& request, std::uint64_t prompt_tokens,
                   const std::optional<std::uint64_t>& window) {
  const std::uint64_t tokens = computed_tokens(request, prompt_tokens);
  if (request.attention == AttentionCount::Square) return Count(tokens) * prompt_tokens;
  const std::uint64_t first = request.cached_tokens + 1;
  return keys_seen(window ? std::min(first, *window) : first, tokens, window);
}

/// Keys and values of the first tokens of one sequence that are kept, in all layers.
Count kept_rows(const Decoder& d, std::uint64_t tokens) {
  const std::uint64_t windowed = d.window ? d.windowed_layers : 0;
  return Count(d.layers - windowed) * tokens +
         Count(windowed) * std::min(tokens, d.window.value_or(tokens));
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
  cost.parameters = Count(d.vocabulary) * d.table_width() + Count(d.position_rows) * d.hidden;
  // One row per token is read and written, not the whole table.
  const Count positions = d.position_rows > 0 ? d.hidden : 0;
  cost.activation_bytes = bytes(pass, (Count(2) * d.table_width() + positions) * pass.tokens);
  return cost;
}

OperatorCost norms(const Pass& pass) {
  const Decoder& d = pass.decoder;
  OperatorCost cost;
  cost.name = "norms";
  cost.parameters = internal::norm_parameters(d);
  cost.weight_bytes = bytes(pass, cost.parameters) * pass.passes;
  const Count last = d.final_norm ? 1 : 0;
  const Count rows = (Count(d.block_norms) * d.layers + last) * pass.tokens;
  cost.activation_bytes = bytes(pass, Count(2) * d.hidden * rows);
  return cost;
}

OperatorCost head(const Pass& pass) {
  const Decoder& d = pass.decoder;
  OperatorCost cost;
  cost.name = "lm_head";
  const Count matrix = Count(d.vocabulary) * d.table_width();
  // A tied head shares the embedding's weights, but reads all of them.
  cost.parameters = d.tied_head ? Count() : matrix;
  cost.flops = Count(2) * matrix * pass.head_rows;
  cost.weight_bytes = bytes(pass, matrix) * pass.passes;
  cost.activation_bytes = bytes(pass, (Count(d.table_width()) + d.vocabulary) * pass.head_rows);
  return cost;
}

/// Elements that a feed-forward network reads and writes per token: its input, the results of its
/// first matrices, their product, its output.
Count network_elements(const Decoder& d, std::uint64_t width) {
  return Count(2) * d.hidden + Count(d.gated ? 3 : 2) * width;
}

OperatorCost routed_experts(const Pass& pass) {
  const Decoder& d = pass.decoder;
  const Experts& e = *d.experts;
  const Weights expert = internal::expert_weights(d);
  const Count matrices = expert.layers * expert.matrix;
  OperatorCost cost;
  cost.name = "routed experts";
  cost.parameters = expert.parameters() * e.routed;
  cost.flops = Count(2) * matrices * e.chosen * pass.tokens;
  for (const Passes& passes : pass.sizes) {
    const double read = expected_experts(e.routed, e.chosen, passes.tokens);
    const Count a_pass = static_cast<std::uint64_t>(
        std::llround(read * pass.format.linear_bytes(matrices).as_double()));
    cost.weight_bytes += a_pass * passes.count;
  }
  cost.activation_bytes =
      bytes(pass, expert.layers * e.chosen * network_elements(d, e.width) * pass.tokens);
  return cost;
}

void add_feed_forward(const Pass& pass, std::vector<OperatorCost>& operators) {
  const Decoder& d = pass.decoder;
  if (d.layers > d.expert_layers) {
    operators.push_back(linear(pass, "dense feed-forward", internal::dense_weights(d),
                               network_elements(d, d.dense_width)));
  }
  if (!d.experts || d.expert_layers == 0) return;
  const Experts& e = *d.experts;
  Weights router = internal::router_weights(d);
  if (e.router_bias) router.bias = e.routed;
  operators.push_back(linear(pass, "router", router, Count(d.hidden) + e.routed));
  operators.push_back(routed_experts(pass));
  if (e.shared_width > 0) {
    operators.push_back(linear(pass, "shared experts", internal::shared_weights(d),
                               network_elements(d, e.shared_width)));
  }
}

/// From the width of the embedding to that of hidden states, and back for the head.
OperatorCost embedding_projections(const Pass& pass) {
  const Decoder& d = pass.decoder;
  const Count one = internal::embedding_projection(d);
  OperatorCost cost;
  cost.name = "embedding projections";
  cost.parameters = Count(2) * one;
  cost.flops = Count(2) * one * (pass.tokens + pass.head_rows);
  cost.weight_bytes = pass.format.linear_bytes(cost.parameters) * pass.passes;
  cost.activation_bytes =
      bytes(pass, (Count(d.embedding_width) + d.hidden) * (pass.tokens + pass.head_rows));
  return cost;
}

/// All operators except attention itself, which goes between the projections and the networks.
PhaseCost pass_cost(const Pass& pass, ModelPhase phase, OperatorCost attention) {
  const Decoder& d = pass.decoder;
  PhaseCost cost;
  cost.phase = phase;
  cost.operators.push_back(embedding(pass));
  cost.operators.push_back(norms(pass));
  cost.operators.push_back(
      linear(pass, "attention projections", internal::attention_weights(d), projected_elements(d)));
  cost.operators.push_back(std::move(attention));
  add_feed_forward(pass, cost.operators);
  if (d.embedding_width > 0) cost.operators.push_back(embedding_projections(pass));
  cost.operators.push_back(head(pass));
  cost.input_bytes = bytes(pass, Count(d.hidden) * pass.tokens);
  cost.output_bytes = bytes(pass, Count(d.vocabulary) * pass.head_rows);
  return cost;
}

/// Consecutive decode steps of alike sequences; the first has `first_context` keys, its own
/// included.
struct Steps {
  std::uint64_t first_context = 1;
  std::uint64_t steps = 1;
  std::uint64_t sequences = 1;
};

/// All sequences begin together, and each takes part in as many steps as it needs.
PhaseCost steps_cost(const Decoder& decoder, const NumberFormat& format, std::vector<Steps> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Steps& a, const Steps& b) { return a.steps < b.steps; });
  Count tokens;
  std::uint64_t active = 0;
  for (const Steps& one : all) {
    tokens += Count(one.steps) * one.sequences;
    active += one.sequences;
  }
  std::uint64_t passes = 0;
  std::vector<Passes> sizes;
  for (const Steps& one : all) {
    if (one.steps > passes) sizes.push_back({one.steps - passes, active});
    passes = one.steps;
    active -= one.sequences;
  }
  const Pass pass{decoder, format, tokens, tokens, passes, std::move(sizes)};
  const Count windowed = decoder.window ? Count(decoder.windowed_layers) : Count();
  const Count full = Count(decoder.layers - windowed.value());
  Count pairs;
  for (const Steps& one : all) {
    pairs += (full * keys_seen(one.first_context, one.steps, std::nullopt) +
              windowed * keys_seen(one.first_context, one.steps, decoder.window)) *
             one.sequences;
  }
  OperatorCost attention;
  attention.name = "attention";
  attention.flops = flops_a_pair(decoder, ModelPhase::Decode) * pairs;
  attention.activation_bytes =
      bytes(pass, Count(decoder.layers) * attention_elements(decoder) * tokens);
  attention.kv_read_bytes = bytes(pass, cache_elements(decoder) * pairs);
  attention.kv_write_bytes = bytes(pass, Count(decoder.layers) * cache_elements(decoder) * tokens);
  return pass_cost(pass, ModelPhase::Decode, std::move(attention));
}

}  // namespace

PhaseCost prefill_cost(const Decoder& decoder, const NumberFormat& format, const Request& request) {
  const Count windowed = decoder.window ? Count(decoder.windowed_layers) : Count();
  const Count full = Count(decoder.layers - windowed.value());
  Count tokens;
  Count pairs;
  Count written;
  for (const Alike& group : alike(request)) {
    const std::uint64_t prompt = group.length.prompt_tokens;
    const std::uint64_t computed = computed_tokens(request, prompt);
    tokens += Count(computed) * group.sequences;
    pairs += (full * prompt_pairs(request, prompt, std::nullopt) +
              windowed * prompt_pairs(request, prompt, decoder.window)) *
             group.sequences;
    written += kept_rows(decoder, computed) * group.sequences;
  }
  const Count head_rows = request.head == HeadCount::All ? tokens : Count(request.batch);
  const Pass pass{decoder, format, tokens, head_rows, 1, {{1, tokens.value()}}};
  OperatorCost attention;
  attention.name = "attention";
  attention.flops = flops_a_pair(decoder, ModelPhase::Prefill) * pairs;
  attention.activation_bytes =
      bytes(pass, Count(decoder.layers) * attention_elements(decoder) * tokens);
  const Count cached = kept_rows(decoder, request.cached_tokens) * request.batch;
  attention.kv_read_bytes = bytes(pass, cached * cache_elements(decoder));
  attention.kv_write_bytes = bytes(pass, written * cache_elements(decoder));
  return pass_cost(pass, ModelPhase::Prefill, std::move(attention));
}

PhaseCost decode_cost(const Decoder& decoder, const NumberFormat& format, const Request& request,
                      std::uint64_t first_context, std::uint64_t steps) {
  return steps_cost(decoder, format, {{first_context, steps, request.batch}});
}

Count kv_cache_bytes(const Decoder& decoder, const NumberFormat& format, const Request& request) {
  Count rows;
  for (const Alike& group : alike(request)) {
    rows += kept_rows(decoder, group.length.prompt_tokens) * group.sequences;
  }
  return rows * cache_elements(decoder) * format.bytes;
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
    std::vector<Steps> steps;
    for (const Alike& group : alike(request)) {
      const std::uint64_t made = std::max<std::uint64_t>(group.length.new_tokens, 1) - 1;
      steps.push_back({group.length.prompt_tokens + 1, made, group.sequences});
    }
    cost.all_decode_steps = steps_cost(decoder, format, std::move(steps));
  }
  cost.notes = decoder.notes;
  if (request.cached_tokens > 0) {
    cost.notes.push_back(std::to_string(request.cached_tokens) +
                         " tokens of the prompt were in the cache; prefill computes the others");
  }
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
