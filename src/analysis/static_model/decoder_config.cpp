#include <algorithm>
#include <array>

#include "analysis/static_model/decoder.h"
#include "analysis/static_model/internal/decoder_weights.h"
#include "base/figures.h"
#include "base/strings.h"

namespace profline::static_model {
namespace {

using internal::ConfigKeys;

/// The layers with a sliding window if the config has no `layer_types`.
enum class Windowed : std::uint8_t {
  Never,
  All,
  Last,     ///< those from `max_window_layers` on, if `use_sliding_window` is set
  Pattern,  ///< all but each `window_pattern`-th
};

/// Which projections of attention have a bias.
enum class AttentionBias : std::uint8_t { Never, InputsOnly, AsConfigured };

/// What distinguishes the model types, as far as their configs do not say it.
struct Family {
  const char* type;
  void (*read)(ConfigKeys& keys, const Family& family, Decoder& decoder);
  bool tied_head = false;  ///< the default of `tie_word_embeddings`
  AttentionBias bias = AttentionBias::Never;
  Windowed windowed = Windowed::Never;
  std::uint64_t window_pattern = 0;
  std::uint64_t block_norms = 2;
  bool qk_norm = false;
  bool fused = false;
  // Defaults of keys that configs leave out; 0: they do not.
  std::uint64_t vocabulary = 0;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t head_dim = 0;
};

std::uint64_t listed_windows(const Node& layer_types) {
  const auto& layers = layer_types.as_list();
  return static_cast<std::uint64_t>(
      std::count_if(layers.begin(), layers.end(), [](const Node& layer) {
        return layer.is_string() && layer.as_string() == "sliding_attention";
      }));
}

std::uint64_t windowed_layers(ConfigKeys& keys, const Family& family, std::uint64_t layers) {
  const Node* types = keys.present("layer_types");
  if (types != nullptr && types->is_list()) return std::min(listed_windows(*types), layers);
  switch (family.windowed) {
    case Windowed::Never:
      return 0;
    case Windowed::All:
      return layers;
    case Windowed::Last:
      return layers - std::min(keys.maybe("max_window_layers"), layers);
    case Windowed::Pattern:
      break;
  }
  return layers - layers / keys.size("sliding_window_pattern", family.window_pattern);
}

void read_window(ConfigKeys& keys, const Family& family, Decoder& decoder) {
  if (family.windowed == Windowed::Never) return;
  if (!keys.flag("use_sliding_window", family.windowed != Windowed::Last)) return;
  const std::uint64_t window = keys.maybe("sliding_window");
  if (window == 0) return;
  decoder.windowed_layers = windowed_layers(keys, family, decoder.layers);
  if (decoder.windowed_layers > 0) decoder.window = window;
}

void read_heads(ConfigKeys& keys, const Family& family, Decoder& decoder) {
  decoder.kv_heads =
      keys.size("num_key_value_heads", family.kv_heads == 0 ? decoder.heads : family.kv_heads);
  if (decoder.heads % decoder.kv_heads != 0 && keys.problems().empty()) {
    const Node* key = keys.present("num_key_value_heads");
    keys.fail(key == nullptr ? keys.config() : *key,
              "num_key_value_heads: must divide num_attention_heads, which is " +
                  std::to_string(decoder.heads));
  }
  const bool divides = decoder.hidden % decoder.heads == 0;
  const bool has_width = keys.present("head_dim") != nullptr || family.head_dim != 0;
  if (!divides && !has_width && keys.problems().empty()) {
    keys.fail(keys.config(),
              "hidden_size is not a multiple of num_attention_heads, and there is no head_dim");
  }
  const std::uint64_t share = std::max<std::uint64_t>(decoder.hidden / decoder.heads, 1);
  decoder.head_dim = keys.size("head_dim", family.head_dim == 0 ? share : family.head_dim);
}

/// Llama and what descends from it: RMS norms, rotary positions and gated networks.
void read_llama(ConfigKeys& keys, const Family& family, Decoder& decoder) {
  decoder.vocabulary = keys.size("vocab_size", family.vocabulary);
  decoder.hidden = keys.size("hidden_size");
  decoder.layers = keys.size("num_hidden_layers", std::nullopt, internal::kMostLayers);
  decoder.heads = keys.size("num_attention_heads", family.heads);
  decoder.dense_width = keys.size("intermediate_size");
  decoder.max_positions = keys.maybe("max_position_embeddings");
  read_heads(keys, family, decoder);
  const bool is_configured = family.bias == AttentionBias::AsConfigured;
  const bool bias = is_configured && keys.flag("attention_bias", false);
  decoder.qkv_bias = bias || family.bias == AttentionBias::InputsOnly;
  decoder.output_bias = bias;
  decoder.mlp_bias = decoder.model_type == "llama" && keys.flag("mlp_bias", false);
  decoder.qk_norm = family.qk_norm;
  decoder.block_norms = family.block_norms;
  decoder.fused_projections = family.fused;
  read_window(keys, family, decoder);
}

void check_choice(ConfigKeys& keys, const Experts& experts) {
  if (experts.chosen <= experts.routed || !keys.problems().empty()) return;
  keys.fail(*keys.present("num_experts_per_tok"),
            "num_experts_per_tok: must be at most the number of experts, " +
                std::to_string(experts.routed));
}

void read_mixtral(ConfigKeys& keys, const Family& family, Decoder& decoder) {
  read_llama(keys, family, decoder);
  Experts experts;
  experts.routed = keys.size({"num_local_experts", "num_experts"});
  experts.chosen = keys.size("num_experts_per_tok");
  experts.width = decoder.dense_width;
  check_choice(keys, experts);
  decoder.experts = experts;
  decoder.expert_layers = decoder.layers;
}

void read_qwen_moe(ConfigKeys& keys, const Family& family, Decoder& decoder) {
  read_llama(keys, family, decoder);
  Experts experts;
  experts.routed = keys.size({"num_experts", "num_local_experts"});
  experts.chosen = keys.size("num_experts_per_tok");
  experts.width = keys.size("moe_intermediate_size");
  check_choice(keys, experts);
  const std::uint64_t step = keys.size("decoder_sparse_step", 1);
  std::vector<std::uint64_t> dense_only;
  if (const Node* list = keys.present("mlp_only_layers"); list != nullptr && list->is_list()) {
    for (const Node& layer : list->as_list()) {
      if (layer.is_int() && layer.as_int() >= 0) {
        dense_only.push_back(static_cast<std::uint64_t>(layer.as_int()));
      }
    }
  }
  for (std::uint64_t layer = 0; layer < decoder.layers; ++layer) {
    const bool is_listed =
        std::find(dense_only.begin(), dense_only.end(), layer) != dense_only.end();
    if (!is_listed && (layer + 1) % step == 0) ++decoder.expert_layers;
  }
  decoder.experts = experts;
}

void read_latent_attention(ConfigKeys& keys, Decoder& decoder) {
  LatentAttention latent;
  latent.q_rank = keys.maybe("q_lora_rank");
  latent.kv_rank = keys.size("kv_lora_rank");
  latent.nope_dim = keys.size("qk_nope_head_dim");
  latent.rope_dim = keys.size("qk_rope_head_dim");
  latent.value_dim = keys.size("v_head_dim");
  decoder.kv_heads = decoder.heads;
  decoder.head_dim = latent.nope_dim + latent.rope_dim;
  decoder.qkv_bias = decoder.output_bias = keys.flag("attention_bias", false);
  decoder.latent = latent;
}

void read_deepseek_experts(ConfigKeys& keys, Decoder& decoder) {
  if (keys.maybe("n_routed_experts") == 0) return;
  Experts experts;
  experts.routed = keys.size("n_routed_experts");
  experts.chosen = keys.size("num_experts_per_tok");
  experts.width = keys.size("moe_intermediate_size");
  experts.shared_width = keys.maybe("n_shared_experts") * experts.width;
  check_choice(keys, experts);
  const std::string method = keys.text("topk_method");
  experts.router_bias =
      decoder.model_type == "deepseek_v3" && (method.empty() || method == "noaux_tc");
  const std::uint64_t first = std::min(keys.maybe("first_k_dense_replace"), decoder.layers);
  const std::uint64_t frequency = keys.size("moe_layer_freq", 1);
  for (std::uint64_t layer = first; layer < decoder.layers; ++layer) {
    if (layer % frequency == 0) ++decoder.expert_layers;
  }
  decoder.experts = experts;
}

void read_deepseek(ConfigKeys& keys, const Family& /*family*/, Decoder& decoder) {
  decoder.vocabulary = keys.size("vocab_size");
  decoder.hidden = keys.size("hidden_size");
  decoder.layers = keys.size("num_hidden_layers", std::nullopt, internal::kMostLayers);
  decoder.heads = keys.size("num_attention_heads");
  decoder.dense_width = keys.size("intermediate_size");
  decoder.max_positions = keys.maybe("max_position_embeddings");
  decoder.mlp_bias = decoder.model_type == "deepseek_v2" && keys.flag("mlp_bias", false);
  read_latent_attention(keys, decoder);
  read_deepseek_experts(keys, decoder);
}

/// What GPT-2 and OPT share: LayerNorm, learned positions, biases, plain networks.
void set_gpt(Decoder& decoder, bool bias) {
  decoder.kv_heads = decoder.heads;
  decoder.head_dim = std::max<std::uint64_t>(decoder.hidden / decoder.heads, 1);
  decoder.gated = false;
  decoder.norm_tensors = 2;
  decoder.qkv_bias = decoder.output_bias = decoder.mlp_bias = bias;
}

void read_gpt2(ConfigKeys& keys, const Family& family, Decoder& decoder) {
  decoder.vocabulary = keys.size("vocab_size");
  decoder.hidden = keys.size({"n_embd", "hidden_size"});
  decoder.layers = keys.size({"n_layer", "num_hidden_layers"}, std::nullopt, internal::kMostLayers);
  decoder.heads = keys.size({"n_head", "num_attention_heads"});
  decoder.dense_width = keys.size("n_inner", 4 * decoder.hidden);
  decoder.max_positions = keys.size({"n_positions", "max_position_embeddings"});
  decoder.position_rows = decoder.max_positions;
  set_gpt(decoder, true);
  decoder.fused_projections = family.fused;
  if (keys.flag("add_cross_attention", false)) {
    keys.fail(*keys.present("add_cross_attention"),
              "add_cross_attention: there is no closed form for cross-attention");
  }
}

void read_opt(ConfigKeys& keys, const Family& /*family*/, Decoder& decoder) {
  constexpr std::uint64_t kUnusedPositions = 2;
  decoder.vocabulary = keys.size("vocab_size");
  decoder.hidden = keys.size("hidden_size");
  decoder.layers = keys.size("num_hidden_layers", std::nullopt, internal::kMostLayers);
  decoder.heads = keys.size("num_attention_heads");
  decoder.dense_width = keys.size("ffn_dim");
  decoder.max_positions = keys.size("max_position_embeddings");
  decoder.position_rows = decoder.max_positions + kUnusedPositions;
  const std::uint64_t width = keys.size("word_embed_proj_dim", decoder.hidden);
  if (width != decoder.hidden) decoder.embedding_width = width;
  set_gpt(decoder, keys.flag("enable_bias", true));
  if (!keys.flag("layer_norm_elementwise_affine", true)) decoder.norm_tensors = 0;
  decoder.final_norm =
      keys.flag("do_layer_norm_before", true) && !keys.flag("_remove_final_layer_norm", false);
}

constexpr std::array kFamilies = {
    Family{.type = "llama", .read = read_llama, .bias = AttentionBias::AsConfigured},
    Family{.type = "mistral", .read = read_llama, .windowed = Windowed::All},
    Family{.type = "mixtral", .read = read_mixtral, .windowed = Windowed::All},
    Family{.type = "qwen2",
           .read = read_llama,
           .bias = AttentionBias::InputsOnly,
           .windowed = Windowed::Last},
    Family{.type = "qwen3",
           .read = read_llama,
           .bias = AttentionBias::AsConfigured,
           .windowed = Windowed::Last,
           .qk_norm = true,
           .head_dim = 128},
    Family{.type = "qwen3_moe",
           .read = read_qwen_moe,
           .bias = AttentionBias::AsConfigured,
           .windowed = Windowed::Last,
           .qk_norm = true},
    Family{.type = "gemma2",
           .read = read_llama,
           .tied_head = true,
           .bias = AttentionBias::AsConfigured,
           .windowed = Windowed::Pattern,
           .window_pattern = 2,
           .block_norms = 4,
           .head_dim = 256},
    Family{.type = "gemma3_text",
           .read = read_llama,
           .tied_head = true,
           .bias = AttentionBias::AsConfigured,
           .windowed = Windowed::Pattern,
           .window_pattern = 6,
           .block_norms = 4,
           .qk_norm = true,
           .vocabulary = 262208,
           .heads = 8,
           .kv_heads = 4,
           .head_dim = 256},
    Family{.type = "phi3", .read = read_llama, .windowed = Windowed::All, .fused = true},
    Family{.type = "deepseek_v2", .read = read_deepseek},
    Family{.type = "deepseek_v3", .read = read_deepseek},
    Family{.type = "gpt2", .read = read_gpt2, .tied_head = true, .fused = true},
    Family{.type = "opt", .read = read_opt, .tied_head = true},
};
/// A Gemma 3 that sees pictures has its decoder's config in `text_config`.
constexpr const char* kWithVision = "gemma3";

const Family* family_of(std::string_view type) {
  const auto* found = std::find_if(kFamilies.begin(), kFamilies.end(),
                                   [&](const Family& family) { return family.type == type; });
  return found == kFamilies.end() ? nullptr : found;
}

Error unknown_type(const Node& config, const std::string& type) {
  const Node* at = config.find("model_type");
  const std::vector<std::string> known = decoder_types();
  return Error(ErrorKind::Config,
               "model_type '" + type + "' has no closed form; supported: " + join(known, ", ") +
                   did_you_mean(type, known),
               (at == nullptr ? config : *at).position());
}

/// The parameters of a SigLIP tower and of the projector after it; its costs are not counted.
void read_vision(ConfigKeys& keys, Decoder& decoder) {
  const Count width = keys.size("hidden_size");
  const Count inner = keys.size("intermediate_size");
  const Count layers = keys.size("num_hidden_layers", std::nullopt, internal::kMostLayers);
  const std::uint64_t patch = keys.size("patch_size");
  const std::uint64_t side = keys.size("image_size") / patch;
  const Count pixels = Count(patch) * patch * keys.size("num_channels", 3);
  const Count network = Count(2) * width * inner + inner + width;
  const Count attention = Count(4) * (width * width + width);
  const Count block = attention + network + Count(4) * width;
  Count parameters = pixels * width + width + Count(side) * side * width + layers * block;
  parameters += Count(2) * width;
  Count tensors = Count(5) + Count(16) * layers;
  if (keys.flag("vision_use_head", true)) {
    parameters += attention + network + Count(3) * width;
    tensors += 11;
  }
  decoder.other_parts.push_back({"vision tower", tensors, parameters});
  decoder.other_parts.push_back({"vision projector", 2, width * decoder.hidden + width});
  decoder.notes.emplace_back(
      "the vision tower counts as parameters only: costs are those of prompts without images");
}

void add_notes(ConfigKeys& keys, Decoder& decoder) {
  const std::uint64_t extra =
      std::max(keys.maybe("num_nextn_predict_layers"), keys.maybe("num_mtp_layers"));
  if (extra == 0) return;
  decoder.notes.push_back("without the " + counted(extra, "layer") + " for multi-token prediction");
}

std::string dtype_of(const ConfigKeys& keys) {
  return keys.text("torch_dtype").empty() ? keys.text("dtype") : keys.text("torch_dtype");
}

Result<Decoder> read_with_vision(const Node& config) {
  ConfigKeys outer(config);
  const Node* text = outer.present("text_config");
  if (text == nullptr || !text->is_map()) {
    return Error(ErrorKind::Config, "missing key 'text_config' (a map)", config.position());
  }
  Decoder decoder = PL_TRY(read_decoder(*text));
  decoder.model_type = kWithVision;
  decoder.tied_head = outer.flag("tie_word_embeddings", decoder.tied_head);
  if (const std::string dtype = dtype_of(outer); !dtype.empty()) decoder.dtype = dtype;
  decoder.quantization = read_quantization(outer.present("quantization_config"));
  std::vector<Error> problems = outer.problems();
  if (const Node* vision = outer.present("vision_config"); vision != nullptr && vision->is_map()) {
    ConfigKeys keys(*vision);
    read_vision(keys, decoder);
    problems.insert(problems.end(), keys.problems().begin(), keys.problems().end());
  }
  if (!problems.empty()) return Error::all(problems);
  return decoder;
}

}  // namespace

std::vector<std::string> decoder_types() {
  std::vector<std::string> types;
  for (const Family& family : kFamilies) types.emplace_back(family.type);
  types.emplace_back(kWithVision);
  return types;
}

Result<Decoder> read_decoder(const Node& config) {
  if (!config.is_map()) {
    return Error(ErrorKind::Config,
                 "config.json must be a map, not " + std::string(describe(config.kind())),
                 config.position());
  }
  ConfigKeys keys(config);
  Decoder decoder;
  decoder.model_type = keys.text("model_type");
  if (decoder.model_type == kWithVision) return read_with_vision(config);
  const Family* family = family_of(decoder.model_type);
  if (family == nullptr) return unknown_type(config, decoder.model_type);
  family->read(keys, *family, decoder);
  decoder.tied_head = keys.flag("tie_word_embeddings", family->tied_head);
  decoder.dtype = dtype_of(keys);
  decoder.quantization = read_quantization(keys.present("quantization_config"));
  add_notes(keys, decoder);
  if (!keys.problems().empty()) return Error::all(keys.problems());
  return decoder;
}

}  // namespace profline::static_model
