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

/// The `quantization_config` of a model.
struct Quantization {
  std::string method;                       ///< `quant_method`: `fp8`, `bitsandbytes`, `gptq`
  std::optional<QuantizedWeights> weights;  ///< absent: how the method stores weights is not known
  /// The format of the products; absent: weights are expanded to the format of the activations.
  std::optional<settings::Precision> products;
  bool in_buffers = false;  ///< weights are buffers instead of parameters

  bool operator==(const Quantization&) const = default;
};

/// Reads fp8, fbgemm_fp8, bitsandbytes, gptq, awq and compressed-tensors, or the list `weights` of
/// the dtypes that the adapter found if the model has no settings. Nothing for any other node.
std::optional<Quantization> read_quantization(const Node* config);

/// The format with these weights and products, and a note about what was assumed.
NumberFormat with_quantization(NumberFormat format, const Quantization& quantization,
                               std::vector<std::string>& notes);

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
  bool router_bias = false;        ///< corrects the scores; transformers keeps it as a buffer

  bool operator==(const Experts&) const = default;
};

/// A decoder-only transformer: blocks of norms, attention and a feed-forward network or experts
/// between an embedding and a head. One description for all model types; the differences between
/// them are values.
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
  /// Of the embedding and the head, projected to and from `hidden`; 0: they have its width.
  std::uint64_t embedding_width = 0;
  std::uint64_t position_rows = 0;  ///< of a learned table of positions; 0: computed positions
  std::uint64_t block_norms = 2;
  std::uint64_t norm_tensors = 1;  ///< 1: a weight; 2: also a bias; 0: norms without parameters
  bool final_norm = true;
  bool gated = true;               ///< feed-forward networks have a gate next to their input matrix
  bool fused_projections = false;  ///< queries, keys and values are one tensor, as are gate and up
  bool qkv_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool qk_norm = false;
  bool tied_head = false;
  std::uint64_t max_positions = 0;  ///< 0: the config does not say
  std::optional<std::uint64_t>
      window;  ///< maximum keys that a token attends to, in `windowed_layers`
  std::uint64_t windowed_layers = 0;
  std::vector<ParameterGroup> other_parts;  ///< stored with the decoder, such as a vision tower
  std::optional<Quantization> quantization;
  std::string dtype;               ///< from the config: `bfloat16`; may be empty
  std::vector<std::string> notes;  ///< parts of the config that this model leaves out

  bool operator==(const Decoder&) const = default;

  std::uint64_t table_width() const { return embedding_width == 0 ? hidden : embedding_width; }
};

/// The values of `model_type` that read_decoder knows.
std::vector<std::string> decoder_types();

/// Reads a config.json, or a config as `to_dict()` of transformers 4.40 and newer returns it, of
/// one of decoder_types(). Layers for multi-token prediction are left out, with a note. The Error
/// lists everything that is missing or impossible, each with its position.
Result<Decoder> read_decoder(const Node& config);

/// The parameters of the decoder, by kind of tensor.
std::vector<ParameterGroup> parameter_groups(const Decoder& decoder);

PhaseCost prefill_cost(const Decoder& decoder, const NumberFormat& format, const Request& request);
/// `steps` consecutive steps of `batch` sequences; the first has `first_context` keys, its own
/// included.
PhaseCost decode_cost(const Decoder& decoder, const NumberFormat& format, const Request& request,
                      std::uint64_t first_context, std::uint64_t steps);
/// For the whole batch.
Count kv_cache_bytes(const Decoder& decoder, const NumberFormat& format, const Request& request);

ModelCost decoder_cost(const Decoder& decoder, const NumberFormat& format, const Request& request);

}  // namespace profline::static_model
