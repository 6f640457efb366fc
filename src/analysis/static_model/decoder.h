#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/static_model/cost.h"
#include "base/result.h"
#include "formats/node.h"

namespace profline::static_model {

/// Attention that keeps keys and values as one latent vector per token (DeepSeek-V2).
struct LatentAttention {
  std::uint64_t q_rank = 0;  ///< 0: queries are projected in one step
  std::uint64_t kv_rank = 0;
  std::uint64_t nope_dim = 0;
  std::uint64_t rope_dim = 0;
  std::uint64_t value_dim = 0;

  bool operator==(const LatentAttention&) const = default;
};

struct Experts {
  std::uint64_t routed = 0;
  std::uint64_t chosen = 0;
  std::uint64_t width = 0;         ///< of one routed expert
  std::uint64_t shared_width = 0;  ///< of all shared experts together; 0: none
  bool router_bias = false;
  bool shared_gate = false;

  bool operator==(const Experts&) const = default;
};

/// A Llama-style decoder: blocks of norm, attention, norm, gated feed-forward network or experts.
struct Decoder {
  std::string model_type;
  std::uint64_t vocabulary = 0;
  std::uint64_t hidden = 0;
  std::uint64_t layers = 0;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t head_dim = 0;
  std::uint64_t dense_width = 0;
  std::uint64_t expert_layers = 0;  ///< the others are dense
  std::optional<Experts> experts;
  std::optional<LatentAttention> latent;
  bool qkv_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool qk_norm = false;
  bool tied_head = false;
  std::uint64_t max_positions = 0;  ///< 0: the config does not say
  std::optional<std::uint64_t>
      window;  ///< maximum keys that a token attends to, in `windowed_layers`
  std::uint64_t windowed_layers = 0;
  std::string dtype;               ///< from the config: `bfloat16`; may be empty
  std::vector<std::string> notes;  ///< parts of the config that this model leaves out

  bool operator==(const Decoder&) const = default;
};

/// Reads a config.json whose `model_type` is llama, mistral, qwen2, qwen3, qwen3_moe, deepseek_v2
/// or deepseek_v3. Layers for multi-token prediction are left out, with a note. The Error lists
/// everything that is missing or impossible, each with its position.
Result<Decoder> read_decoder(const Node& config);

/// The parameters of the decoder, by kind of tensor.
std::vector<ParameterGroup> parameter_groups(const Decoder& decoder);

PhaseCost prefill_cost(const Decoder& decoder, const NumberFormat& format, const Request& request);
/// `steps` consecutive steps; the first has `first_context` keys, its own included.
PhaseCost decode_cost(const Decoder& decoder, const NumberFormat& format, const Request& request,
                      std::uint64_t first_context, std::uint64_t steps);
/// For the whole batch.
Count kv_cache_bytes(const Decoder& decoder, const NumberFormat& format, const Request& request);

ModelCost decoder_cost(const Decoder& decoder, const NumberFormat& format, const Request& request);

}  // namespace profline::static_model
