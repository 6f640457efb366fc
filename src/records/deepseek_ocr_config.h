#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "schema/field.h"
#include "schema/problems.h"

/// `config.json` of a DeepSeek-OCR checkpoint. Sizes are int64, as libtorch takes them; all are
/// limited so that products of a few of them fit in 64 bits.
namespace profline {

namespace deepseek_ocr {

constexpr std::int64_t kMaxSize = 1 << 20;    // of a vector, or of an image side
constexpr std::int64_t kMaxLayers = 1 << 10;  // of one tower
constexpr std::int64_t kMaxIds = 1 << 24;     // of the vocabulary

/// The decoder. The release has these keys twice, at the top and in `language_config`.
struct Language {
  std::int64_t vocab_size = 129280;
  std::int64_t hidden_size = 1280;
  std::int64_t intermediate_size = 6848;
  std::int64_t moe_intermediate_size = 896;
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 10;
  std::int64_t num_key_value_heads = 10;
  std::int64_t n_routed_experts = 64;
  std::int64_t n_shared_experts = 2;
  std::int64_t num_experts_per_tok = 6;
  std::int64_t first_k_dense_replace = 1;
  std::int64_t moe_layer_freq = 1;
  std::optional<std::int64_t> n_group = 1;
  std::optional<std::int64_t> topk_group = 1;
  std::string topk_method = "greedy";
  std::string scoring_func = "softmax";
  bool norm_topk_prob = false;
  double routed_scaling_factor = 1.0;
  std::int64_t max_position_embeddings = 8192;
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000.0;
  Node rope_scaling;  ///< null: no scaling
  std::string hidden_act = "silu";
  bool attention_bias = false;
  bool tie_word_embeddings = false;
  // The multi-head latent attention that `use_mla` would choose; 0 and null both mean "unset".
  bool use_mla = false;
  std::optional<std::int64_t> q_lora_rank;
  std::optional<std::int64_t> kv_lora_rank;
  std::optional<std::int64_t> qk_nope_head_dim;
  std::optional<std::int64_t> qk_rope_head_dim;
  std::optional<std::int64_t> v_head_dim;
  std::int64_t bos_token_id = 0;
  std::int64_t eos_token_id = 1;
  std::optional<std::int64_t> pad_token_id;
  std::optional<std::string> torch_dtype;

  bool operator==(const Language&) const = default;

  std::int64_t head_dim() const { return hidden_size / num_attention_heads; }
  /// Width of the single network that the shared experts of a layer are fused into.
  std::int64_t shared_intermediate_size() const { return moe_intermediate_size * n_shared_experts; }
  bool is_moe_layer(std::int64_t layer) const {
    return layer >= first_k_dense_replace && layer % moe_layer_freq == 0;
  }
};
constexpr auto fields(std::type_identity<Language>) {
  return field_list(
      field("vocab_size", &Language::vocab_size, "rows of the embedding, unused ones included")
          .required()
          .range(1, kMaxIds),
      field("hidden_size", &Language::hidden_size, "width of the decoder")
          .required()
          .range(1, kMaxSize),
      field("intermediate_size", &Language::intermediate_size, "width of a dense layer's network")
          .required()
          .range(1, kMaxSize),
      field("moe_intermediate_size", &Language::moe_intermediate_size, "width of one expert")
          .required()
          .range(1, kMaxSize),
      field("num_hidden_layers", &Language::num_hidden_layers, "decoder layers")
          .required()
          .range(1, kMaxLayers),
      field("num_attention_heads", &Language::num_attention_heads, "query heads")
          .required()
          .range(1, kMaxSize),
      field("num_key_value_heads", &Language::num_key_value_heads, "key and value heads")
          .range(1, kMaxSize),
      field("n_routed_experts", &Language::n_routed_experts, "experts to choose from, per layer")
          .required()
          .range(1, 1 << 12),
      field("n_shared_experts", &Language::n_shared_experts, "experts that are always on, fused")
          .required()
          .range(1, 1 << 12),
      field("num_experts_per_tok", &Language::num_experts_per_tok, "experts chosen for a token")
          .required()
          .range(1, 1 << 12),
      field("first_k_dense_replace", &Language::first_k_dense_replace,
            "number of leading dense layers")
          .required()
          .at_least(0),
      field("moe_layer_freq", &Language::moe_layer_freq, "every n-th of the others has experts")
          .at_least(1),
      field("n_group", &Language::n_group, "expert groups; not read with topk_method greedy"),
      field("topk_group", &Language::topk_group, "not read with topk_method greedy"),
      field("topk_method", &Language::topk_method, "how experts are chosen"),
      field("scoring_func", &Language::scoring_func, "from router logits to weights"),
      field("norm_topk_prob", &Language::norm_topk_prob, "scale the chosen weights to sum 1"),
      field("routed_scaling_factor", &Language::routed_scaling_factor, "of the experts' weights"),
      field("max_position_embeddings", &Language::max_position_embeddings, "longest sequence")
          .required()
          .at_least(1),
      field("rms_norm_eps", &Language::rms_norm_eps, "of every RMS norm").at_least(0),
      field("rope_theta", &Language::rope_theta, "base of the rotary frequencies").above(0),
      field("rope_scaling", &Language::rope_scaling, "how rotary positions are stretched"),
      field("hidden_act", &Language::hidden_act, "activation of the decoder's networks"),
      field("attention_bias", &Language::attention_bias, "biases in the decoder's attention"),
      field("tie_word_embeddings", &Language::tie_word_embeddings, "lm_head is the embedding"),
      field("use_mla", &Language::use_mla, "multi-head latent attention"),
      field("q_lora_rank", &Language::q_lora_rank, "of latent attention").at_least(0),
      field("kv_lora_rank", &Language::kv_lora_rank, "of latent attention").at_least(0),
      field("qk_nope_head_dim", &Language::qk_nope_head_dim, "of latent attention").at_least(0),
      field("qk_rope_head_dim", &Language::qk_rope_head_dim, "of latent attention").at_least(0),
      field("v_head_dim", &Language::v_head_dim, "of latent attention").at_least(0),
      field("bos_token_id", &Language::bos_token_id, "first id of every prompt").at_least(0),
      field("eos_token_id", &Language::eos_token_id, "ends the generated text").at_least(0),
      field("pad_token_id", &Language::pad_token_id, "not used").at_least(0),
      field("torch_dtype", &Language::torch_dtype, "type of the saved weights, which decide"));
}

/// From the two towers' features to the decoder's width.
struct Projector {
  std::string projector_type = "linear";
  std::int64_t input_dim = 2048;
  std::int64_t n_embed = 1280;

  bool operator==(const Projector&) const = default;
};
constexpr auto fields(std::type_identity<Projector>) {
  return field_list(
      field("projector_type", &Projector::projector_type, "kind of network"),
      field("input_dim", &Projector::input_dim, "CLIP's width and SAM's")
          .required()
          .range(1, 2 * kMaxSize),
      field("n_embed", &Projector::n_embed, "the decoder's width").required().range(1, kMaxSize));
}

/// The first tower. The last four keys are ours: the release has them in its code.
struct Sam {
  std::int64_t width = 768;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::vector<std::int64_t> global_attn_indexes = {2, 5, 8, 11};
  std::vector<std::int64_t> downsample_channels = {512, 1024};
  std::int64_t patch_size = 16;
  std::int64_t window_size = 14;
  std::int64_t neck_channels = 256;
  std::int64_t mlp_ratio = 4;

  bool operator==(const Sam&) const = default;

  std::int64_t head_dim() const { return width / heads; }
  /// Whether this layer attends to the whole map instead of windows.
  bool is_global(std::int64_t layer) const;
};
constexpr auto fields(std::type_identity<Sam>) {
  return field_list(
      field("width", &Sam::width, "channels").required().range(1, kMaxSize),
      field("layers", &Sam::layers, "blocks").required().range(1, kMaxLayers),
      field("heads", &Sam::heads, "attention heads").required().range(1, kMaxSize),
      field("global_attn_indexes", &Sam::global_attn_indexes, "blocks without windows")
          .required()
          .range(0, kMaxLayers - 1),
      field("downsample_channels", &Sam::downsample_channels, "of the two convolutions at the end")
          .required()
          .range(1, kMaxSize),
      field("patch_size", &Sam::patch_size, "side of a patch").unit("px").range(1, 1 << 10),
      field("window_size", &Sam::window_size, "side of a window").unit("patches").range(1, 1 << 10),
      field("neck_channels", &Sam::neck_channels, "of the neck").range(1, kMaxSize),
      field("mlp_ratio", &Sam::mlp_ratio, "width of a block's network relative to its own")
          .range(1, 64));
}

/// The second tower. `mlp_ratio` is our own key.
struct Clip {
  std::int64_t width = 1024;
  std::int64_t layers = 24;
  std::int64_t heads = 16;
  std::int64_t image_size = 224;
  std::int64_t patch_size = 14;
  std::int64_t mlp_ratio = 4;

  bool operator==(const Clip&) const = default;

  std::int64_t head_dim() const { return width / heads; }
  /// Side of the map that its position table was built for.
  std::int64_t grid() const { return image_size / patch_size; }
};
constexpr auto fields(std::type_identity<Clip>) {
  return field_list(
      field("width", &Clip::width, "channels").required().range(1, kMaxSize),
      field("layers", &Clip::layers, "blocks").required().range(1, kMaxLayers),
      field("heads", &Clip::heads, "attention heads").required().range(1, kMaxSize),
      field("image_size", &Clip::image_size, "with patch_size: side of the position table")
          .required()
          .range(1, 1 << 14),
      field("patch_size", &Clip::patch_size, "of a patch embedding that is stored but not used")
          .required()
          .range(1, 1 << 10),
      field("mlp_ratio", &Clip::mlp_ratio, "width of a block's network relative to its own")
          .range(1, 64));
}

struct Towers {
  Clip clip;
  Sam sam;

  bool operator==(const Towers&) const = default;
};
constexpr auto fields(std::type_identity<Towers>) {
  return field_list(field("clip-l-14-224", &Towers::clip, "the second tower"),
                    field("sam_vit_b", &Towers::sam, "the first tower"));
}

struct Vision {
  std::int64_t image_size = 1024;
  std::string model_name = "deeplip_b_l";
  Towers width;

  bool operator==(const Vision&) const = default;
};
constexpr auto fields(std::type_identity<Vision>) {
  return field_list(
      field("image_size", &Vision::image_size, "side that SAM's position table was built for")
          .unit("px")
          .required()
          .range(1, 1 << 16),
      field("model_name", &Vision::model_name, "what the release calls the towers"),
      field("width", &Vision::width, "sizes of the towers"));
}

}  // namespace deepseek_ocr

/// Sizes that are not in a config.json, not even in the release's: they have the release's values
/// until the weights are known (weights::with_sizes_of).
struct AssumedSizes {
  bool sam_patch_size = false;
  bool sam_window_size = false;
  bool sam_neck_channels = false;
  bool sam_mlp_ratio = false;
  bool clip_mlp_ratio = false;

  bool operator==(const AssumedSizes&) const = default;
};

/// The structure of the model; `DeepseekOcrConfig{}` is the release.
struct DeepseekOcrConfig : deepseek_ocr::Language {
  deepseek_ocr::Projector projector_config;
  deepseek_ocr::Vision vision_config;
  std::string tile_tag = "2D";
  AssumedSizes assumed;

  bool operator==(const DeepseekOcrConfig&) const = default;

  const deepseek_ocr::Sam& sam() const { return vision_config.width.sam; }
  const deepseek_ocr::Clip& clip() const { return vision_config.width.clip; }
  /// Side of the map that SAM's position table was built for.
  std::int64_t sam_grid() const { return vision_config.image_size / sam().patch_size; }
};
constexpr auto fields(std::type_identity<DeepseekOcrConfig>) {
  return fields(std::type_identity<deepseek_ocr::Language>{}) +
         field_list(field("projector_config", &DeepseekOcrConfig::projector_config,
                          "from the towers to the decoder"),
                    field("vision_config", &DeepseekOcrConfig::vision_config, "the two towers"),
                    field("tile_tag", &DeepseekOcrConfig::tile_tag, "how tiles are laid out"));
}
/// Rules over several keys, and values that this model does not implement.
Checks validate(const DeepseekOcrConfig& config);

/// Reads the tree of a config.json. Unknown keys are ignored (the file has many that do not concern
/// the model). Language keys may be at the top, in `language_config` or in both; then they must
/// agree. Keys absent from the release take its class defaults; sizes of the model are required.
/// The Error lists every problem with its key and place.
Result<DeepseekOcrConfig> read_deepseek_ocr_config(const Node& tree);
/// The same from text; `source` is its name in messages.
Result<DeepseekOcrConfig> parse_deepseek_ocr_config(std::string_view text, std::string source);
Result<DeepseekOcrConfig> load_deepseek_ocr_config(const std::filesystem::path& path);

/// As the release writes it, including `language_config`; reads back as an equal config.
Node to_node(const DeepseekOcrConfig& config);

/// The published model, bf16: 3 336 106 240 parameters.
DeepseekOcrConfig official_config();
/// The same architecture in 466 464 parameters, for tests and demonstrations.
DeepseekOcrConfig tiny_config();

}  // namespace profline
