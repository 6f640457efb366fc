#include <algorithm>
#include <array>

#include "analysis/static_model/decoder.h"
#include "base/figures.h"
#include "base/strings.h"

namespace profline::static_model {
namespace {

constexpr std::uint64_t kMostSize = std::uint64_t{1} << 24U;
constexpr std::uint64_t kMostLayers = 1U << 12U;

const std::vector<std::string> kModelTypes = {"llama",     "mistral",     "qwen2",      "qwen3",
                                              "qwen3_moe", "deepseek_v2", "deepseek_v3"};

/// Reads values from a config.json and collects everything that is wrong with it.
class Keys {
 public:
  explicit Keys(const Node& config) : config_(config) {}

  /// A positive size. If the key is missing: `otherwise`, or a problem if that is absent.
  std::uint64_t size(std::string_view key, std::optional<std::uint64_t> otherwise = {},
                     std::uint64_t most = kMostSize) {
    const Node* value = present(key);
    if (value == nullptr) {
      if (!otherwise) fail(config_, "missing key '" + std::string(key) + "' (an integer > 0)");
      return otherwise.value_or(1);
    }
    const bool fits = value->is_int() && value->as_int() > 0 &&
                      static_cast<std::uint64_t>(value->as_int()) <= most;
    if (!fits) {
      fail(*value, std::string(key) + ": must be an integer from 1 to " + std::to_string(most));
      return 1;
    }
    return static_cast<std::uint64_t>(value->as_int());
  }
  /// The same, where 0 means "none".
  std::uint64_t maybe(std::string_view key) {
    const Node* value = present(key);
    if (value == nullptr || (value->is_int() && value->as_int() == 0)) return 0;
    return size(key);
  }
  bool flag(std::string_view key, bool otherwise) {
    const Node* value = present(key);
    if (value == nullptr) return otherwise;
    if (value->is_bool()) return value->as_bool();
    fail(*value, std::string(key) + ": must be true or false");
    return otherwise;
  }
  std::string text(std::string_view key) const {
    const Node* value = present(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
  }
  /// Python's configs treat null and absent alike.
  const Node* present(std::string_view key) const {
    const Node* value = config_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void fail(const Node& at, std::string message) {
    problems_.push_back(Error(ErrorKind::Config, std::move(message), at.position()));
  }
  const Node& config() const { return config_; }
  const std::vector<Error>& problems() const { return problems_; }

 private:
  const Node& config_;
  std::vector<Error> problems_;
};

Error unknown_type(const Node& config, const std::string& type) {
  const Node* at = config.find("model_type");
  return Error(ErrorKind::Config,
               "model_type '" + type + "' has no closed form; supported: " +
                   join(kModelTypes, ", ") + did_you_mean(type, kModelTypes),
               (at == nullptr ? config : *at).position());
}

void read_window(Keys& keys, Decoder& decoder) {
  if (decoder.model_type != "mistral" && !keys.flag("use_sliding_window", false)) return;
  const std::uint64_t window = keys.maybe("sliding_window");
  if (window == 0) return;
  decoder.window = window;
  const std::uint64_t first = decoder.model_type == "mistral"
                                  ? 0
                                  : std::min(keys.maybe("max_window_layers"), decoder.layers);
  decoder.windowed_layers = decoder.layers - first;
}

void read_plain_attention(Keys& keys, Decoder& decoder) {
  decoder.kv_heads = keys.size("num_key_value_heads", decoder.heads);
  if (decoder.heads % decoder.kv_heads != 0 && keys.problems().empty()) {
    keys.fail(*keys.present("num_key_value_heads"),
              "num_key_value_heads: must divide num_attention_heads, which is " +
                  std::to_string(decoder.heads));
  }
  const bool divides = decoder.hidden % decoder.heads == 0;
  if (!divides && keys.present("head_dim") == nullptr && keys.problems().empty()) {
    keys.fail(keys.config(),
              "hidden_size is not a multiple of num_attention_heads, and there is no head_dim");
  }
  decoder.head_dim =
      keys.size("head_dim", std::max<std::uint64_t>(decoder.hidden / decoder.heads, 1));
  const bool is_qwen2 = decoder.model_type == "qwen2";
  const bool bias = keys.flag("attention_bias", is_qwen2);
  decoder.qkv_bias = bias;
  decoder.output_bias = bias && !is_qwen2;
  decoder.mlp_bias = keys.flag("mlp_bias", false);
  decoder.qk_norm = decoder.model_type.starts_with("qwen3");
  read_window(keys, decoder);
}

void read_latent_attention(Keys& keys, Decoder& decoder) {
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

void check_choice(Keys& keys, const Experts& experts) {
  if (experts.chosen <= experts.routed || !keys.problems().empty()) return;
  keys.fail(*keys.present("num_experts_per_tok"),
            "num_experts_per_tok: must be at most the number of experts, " +
                std::to_string(experts.routed));
}

void read_qwen_experts(Keys& keys, Decoder& decoder) {
  Experts experts;
  experts.routed = keys.size("num_experts");
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

void read_deepseek_experts(Keys& keys, Decoder& decoder) {
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

void add_notes(Keys& keys, Decoder& decoder) {
  if (const std::uint64_t extra = keys.maybe("num_nextn_predict_layers"); extra > 0) {
    decoder.notes.push_back("without the " + counted(extra, "layer") +
                            " for multi-token prediction");
  }
  const Node* quantization = keys.present("quantization_config");
  const Node* method = quantization == nullptr ? nullptr : quantization->find("quant_method");
  if (method != nullptr && method->is_string()) {
    decoder.notes.push_back("the checkpoint is quantised (" + method->as_string() +
                            "): give its format for its bytes; scales are not counted");
  }
}

}  // namespace

Result<Decoder> read_decoder(const Node& config) {
  if (!config.is_map()) {
    return Error(ErrorKind::Config,
                 "config.json must be a map, not " + std::string(describe(config.kind())),
                 config.position());
  }
  Keys keys(config);
  Decoder decoder;
  decoder.model_type = keys.text("model_type");
  if (std::find(kModelTypes.begin(), kModelTypes.end(), decoder.model_type) == kModelTypes.end()) {
    return unknown_type(config, decoder.model_type);
  }
  decoder.vocabulary = keys.size("vocab_size");
  decoder.hidden = keys.size("hidden_size");
  decoder.layers = keys.size("num_hidden_layers", std::nullopt, kMostLayers);
  decoder.heads = keys.size("num_attention_heads");
  decoder.dense_width = keys.size("intermediate_size");
  decoder.tied_head = keys.flag("tie_word_embeddings", false);
  decoder.max_positions = keys.maybe("max_position_embeddings");
  decoder.dtype = keys.text("torch_dtype").empty() ? keys.text("dtype") : keys.text("torch_dtype");
  const bool is_deepseek = decoder.model_type.starts_with("deepseek");
  is_deepseek ? read_latent_attention(keys, decoder) : read_plain_attention(keys, decoder);
  if (is_deepseek) read_deepseek_experts(keys, decoder);
  if (decoder.model_type == "qwen3_moe") read_qwen_experts(keys, decoder);
  add_notes(keys, decoder);
  if (!keys.problems().empty()) return Error::all(keys.problems());
  return decoder;
}

}  // namespace profline::static_model
