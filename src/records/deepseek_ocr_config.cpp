#include "records/deepseek_ocr_config.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "formats/json.h"
#include "schema/docs.h"
#include "schema/read.h"

namespace profline {
namespace {

using deepseek_ocr::Clip;
using deepseek_ocr::Language;
using deepseek_ocr::Projector;
using deepseek_ocr::Sam;

/// `node` without the keys that the struct does not have, at every level.
Node known_part(const Node& node, const schema::StructType& structure) {
  if (!node.is_map()) return node;
  NodeMap entries;
  for (const NodeMap::Entry& entry : node.as_map()) {
    const auto field = std::find_if(
        structure.fields.begin(), structure.fields.end(), [&](const schema::FieldEntry& one) {
          return entry.key.is_string() && entry.key.as_string() == one.text.name;
        });
    if (field == structure.fields.end()) continue;
    const schema::Type& type = field->type();
    entries.set(entry.key, type.structure != nullptr ? known_part(entry.value, type.structure())
                                                     : entry.value);
  }
  Node known = Node::map(std::move(entries));
  known.set_mark(node.mark());
  return known;
}

/// 10000 and 10000.0 are the same setting.
bool same_value(const Node& a, const Node& b) {
  const auto is_number = [](const Node& node) { return node.is_int() || node.is_float(); };
  const auto number = [](const Node& node) {
    return node.is_int() ? static_cast<double>(node.as_int()) : node.as_float();
  };
  return is_number(a) && is_number(b) ? number(a) == number(b) : a == b;
}

/// Moves the keys of `language_config` to the top level.
void merge_language(const Node& nested, Node& top, schema::Problems& problems) {
  if (nested.is_null()) return;
  if (!nested.is_map()) {
    problems.add(Error(ErrorKind::Config,
                       "language_config: must be a map, not " + schema::shown_with_kind(nested),
                       nested.position()));
    return;
  }
  const Node known = known_part(nested, schema::Codec<Language>::structure());
  for (const NodeMap::Entry& entry : known.as_map()) {
    const Node* flat = top.as_map().find(entry.key);
    if (flat == nullptr) {
      top.as_map().set(entry.key, entry.value);
    } else if (!same_value(*flat, entry.value)) {
      problems.add(Error(ErrorKind::Config,
                         entry.key.as_string() + ": is " + schema::shown(*flat) + " here and " +
                             schema::shown(entry.value) + " in language_config (line " +
                             std::to_string(entry.value.mark().line) + ")",
                         flat->position()));
    }
  }
}

AssumedSizes assumed_sizes(const Node& tree) {
  const auto lacks = [&tree](std::string_view tower, std::string_view key) {
    const std::string path = "vision_config.width." + std::string(tower) + "." + std::string(key);
    return tree.find_path(path) == nullptr;
  };
  return {.sam_patch_size = lacks("sam_vit_b", "patch_size"),
          .sam_window_size = lacks("sam_vit_b", "window_size"),
          .sam_neck_channels = lacks("sam_vit_b", "neck_channels"),
          .sam_mlp_ratio = lacks("sam_vit_b", "mlp_ratio"),
          .clip_mlp_ratio = lacks("clip-l-14-224", "mlp_ratio")};
}

void unset_if_zero(std::optional<std::int64_t>& size) {
  if (size == 0) size.reset();
}

/// Checks settings that the published code supports and ours does not; each has one valid value.
void check_supported(const DeepseekOcrConfig& config, Checks& checks) {
  const auto only = [&checks](const std::string& member, std::string_view value) {
    if (member == value) return;
    checks.fail(member, "must be '" + std::string(value) + "', not '" + member + "'");
  };
  only(config.topk_method, "greedy");
  only(config.scoring_func, "softmax");
  only(config.hidden_act, "silu");
  only(config.tile_tag, "2D");
  only(config.projector_config.projector_type, "linear");
  const auto never = [&checks](const bool& member) {
    if (member) checks.fail(member, "must be false: this model has no such part");
  };
  never(config.use_mla);
  never(config.attention_bias);
  never(config.tie_word_embeddings);
  if (!config.rope_scaling.is_null()) {
    checks.fail(config.rope_scaling, "must be null: this model's positions are not scaled");
  }
}

void check_divides(const std::int64_t& divisor, std::string_view of_what, std::int64_t size,
                   Checks& checks) {
  if (size % divisor == 0) return;
  checks.fail(divisor, "must divide " + std::string(of_what) + " (" + std::to_string(size) +
                           "), not " + std::to_string(divisor));
}

void check_language(const Language& language, Checks& checks) {
  check_divides(language.num_attention_heads, "hidden_size", language.hidden_size, checks);
  check_divides(language.num_key_value_heads, "num_attention_heads", language.num_attention_heads,
                checks);
  if (language.head_dim() % 2 != 0) {
    checks.fail(language.num_attention_heads,
                "must leave an even head size for rotary positions, not " +
                    std::to_string(language.head_dim()));
  }
  if (language.num_experts_per_tok > language.n_routed_experts) {
    checks.fail(language.num_experts_per_tok,
                "must be at most n_routed_experts (" + std::to_string(language.n_routed_experts) +
                    "), not " + std::to_string(language.num_experts_per_tok));
  }
  constexpr std::int64_t kMaxExperts = 1 << 16;  // a list of the tensors stays small
  if (language.n_routed_experts * language.num_hidden_layers > kMaxExperts) {
    checks.fail(language.n_routed_experts,
                "must be at most " + std::to_string(kMaxExperts / language.num_hidden_layers) +
                    " in each of " + std::to_string(language.num_hidden_layers) + " layers (" +
                    std::to_string(kMaxExperts) + " in all), not " +
                    std::to_string(language.n_routed_experts));
  }
  for (const std::int64_t* id : {&language.bos_token_id, &language.eos_token_id}) {
    if (*id < language.vocab_size) continue;
    checks.fail(*id, "must be below vocab_size (" + std::to_string(language.vocab_size) +
                         "), not " + std::to_string(*id));
  }
}

void check_sam(const DeepseekOcrConfig& config, Checks& checks) {
  const Sam& sam = config.sam();
  check_divides(sam.heads, "width", sam.width, checks);
  check_divides(sam.patch_size, "vision_config.image_size", config.vision_config.image_size,
                checks);
  if (sam.downsample_channels.size() != 2) {
    checks.fail(sam.downsample_channels,
                "must have two items, not " + std::to_string(sam.downsample_channels.size()));
  }
  for (const std::int64_t index : sam.global_attn_indexes) {
    if (index < sam.layers) continue;
    checks.fail(sam.global_attn_indexes, "must be below layers (" + std::to_string(sam.layers) +
                                             "), not " + std::to_string(index));
    break;
  }
}

void check_clip(const Clip& clip, Checks& checks) {
  check_divides(clip.heads, "width", clip.width, checks);
  if (clip.patch_size > clip.image_size) {
    checks.fail(clip.patch_size, "must be at most image_size (" + std::to_string(clip.image_size) +
                                     "), not " + std::to_string(clip.patch_size));
  }
}

/// Checks that the widths of adjacent parts match.
void check_joints(const DeepseekOcrConfig& config, Checks& checks) {
  const std::vector<std::int64_t>& channels = config.sam().downsample_channels;
  const Clip& clip = config.clip();
  const Projector& projector = config.projector_config;
  const auto must_be = [&checks](const std::int64_t& member, std::int64_t value,
                                 std::string_view why) {
    if (member == value) return;
    checks.fail(member, "must be " + std::to_string(value) + ", " + std::string(why) + ", not " +
                            std::to_string(member));
  };
  if (channels.empty()) return;
  must_be(clip.width, channels.back(), "the last of sam_vit_b.downsample_channels");
  must_be(projector.input_dim, clip.width + channels.back(), "CLIP's width and SAM's together");
  must_be(projector.n_embed, config.hidden_size, "the decoder's hidden_size");
}

}  // namespace

bool deepseek_ocr::Sam::is_global(std::int64_t layer) const {
  return std::find(global_attn_indexes.begin(), global_attn_indexes.end(), layer) !=
         global_attn_indexes.end();
}

Checks validate(const DeepseekOcrConfig& config) {
  Checks checks;
  check_supported(config, checks);
  check_language(config, checks);
  check_sam(config, checks);
  check_clip(config.clip(), checks);
  check_joints(config, checks);
  return checks;
}

Result<DeepseekOcrConfig> read_deepseek_ocr_config(const Node& tree) {
  schema::Problems problems;
  Node known = known_part(tree, schema::Codec<DeepseekOcrConfig>::structure());
  if (known.is_map()) {
    if (const Node* nested = tree.find("language_config")) merge_language(*nested, known, problems);
    // Neither set nor null: as many as there are query heads.
    const Node* heads = known.find("num_attention_heads");
    const Node* shared = known.find("num_key_value_heads");
    if (heads != nullptr && (shared == nullptr || shared->is_null())) {
      known.as_map().set("num_key_value_heads", Node(*heads));
    }
  }
  auto config = schema::read<DeepseekOcrConfig>(known, problems);
  if (!problems.empty()) return problems.to_error();
  for (auto* size : {&config.q_lora_rank, &config.kv_lora_rank, &config.qk_nope_head_dim,
                     &config.qk_rope_head_dim, &config.v_head_dim}) {
    unset_if_zero(*size);
  }
  config.assumed = assumed_sizes(tree);
  return config;
}

Result<DeepseekOcrConfig> parse_deepseek_ocr_config(std::string_view text, std::string source) {
  return read_deepseek_ocr_config(PL_TRY(parse_json(text, std::move(source))));
}

Result<DeepseekOcrConfig> load_deepseek_ocr_config(const std::filesystem::path& path) {
  return parse_deepseek_ocr_config(PL_TRY(read_file(path)), path.string());
}

Node to_node(const DeepseekOcrConfig& config) {
  NodeMap tree;
  tree.set("architectures", Node::list({Node::string("DeepseekOCRForCausalLM")}));
  tree.set("model_type", Node::string("deepseek_vl_v2"));
  Node own = schema::write(config);
  Node language = schema::write<Language>(config);
  for (Node* part : {&own, &language}) {
    // Some readers interpret null as "use your default size", and 0 as "absent".
    for (const char* key : {"qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"}) {
      if (part->find(key)->is_null()) part->as_map().set(key, Node::integer(0));
    }
  }
  for (NodeMap::Entry& entry : own.as_map()) tree.set(entry.key, std::move(entry.value));
  tree.set("language_config", std::move(language));
  return Node::map(std::move(tree));
}

DeepseekOcrConfig official_config() {
  DeepseekOcrConfig config;
  config.torch_dtype = "bfloat16";
  return config;
}

DeepseekOcrConfig tiny_config() {
  DeepseekOcrConfig config;
  config.torch_dtype = "float32";
  config.vocab_size = 384;
  config.hidden_size = 64;
  config.intermediate_size = 176;
  config.moe_intermediate_size = 48;
  config.num_hidden_layers = 3;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 4;
  config.n_routed_experts = 8;
  config.num_experts_per_tok = 3;
  config.max_position_embeddings = 512;
  config.projector_config.input_dim = 64;
  config.projector_config.n_embed = 64;
  config.vision_config.image_size = 256;
  config.vision_config.width.sam = {.width = 32,
                                    .layers = 4,
                                    .heads = 2,
                                    .global_attn_indexes = {1, 3},
                                    .downsample_channels = {24, 32},
                                    .patch_size = 16,
                                    .window_size = 5,
                                    .neck_channels = 16,
                                    .mlp_ratio = 4};
  config.vision_config.width.clip = {
      .width = 32, .layers = 2, .heads = 2, .image_size = 56, .patch_size = 14, .mlp_ratio = 4};
  return config;
}

}  // namespace profline
