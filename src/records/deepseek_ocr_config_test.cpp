#include "records/deepseek_ocr_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/paths.h"

namespace profline {
namespace {

using ::testing::ElementsAre;

// Section 9.1 of the model's description, verbatim.
constexpr std::string_view kTiny = R"({
  "architectures": ["DeepseekOCRForCausalLM"], "model_type": "deepseek_vl_v2",
  "torch_dtype": "float32", "tile_tag": "2D", "global_view_pos": "head",
  "vocab_size": 384, "hidden_size": 64, "intermediate_size": 176,
  "moe_intermediate_size": 48, "num_hidden_layers": 3,
  "num_attention_heads": 4, "num_key_value_heads": 4,
  "n_routed_experts": 8, "n_shared_experts": 2, "num_experts_per_tok": 3,
  "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "topk_method": "greedy",
  "use_mla": false, "q_lora_rank": null, "kv_lora_rank": null,
  "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0,
  "max_position_embeddings": 512, "bos_token_id": 0, "eos_token_id": 1,
  "projector_config": {"projector_type": "linear", "input_dim": 64, "n_embed": 64},
  "vision_config": {
    "image_size": 256, "model_name": "deeplip_b_l",
    "width": {
      "sam_vit_b": {"width": 32, "layers": 4, "heads": 2, "global_attn_indexes": [1, 3],
                    "downsample_channels": [24, 32],
                    "patch_size": 16, "window_size": 5, "neck_channels": 16, "mlp_ratio": 4},
      "clip-l-14-224": {"width": 32, "layers": 2, "heads": 2, "image_size": 56,
                        "patch_size": 14, "mlp_ratio": 4}
    }
  }
})";

/// kTiny with one piece of text replaced.
std::string tiny_with(std::string_view old_text, std::string_view new_text) {
  std::string text(kTiny);
  const std::size_t at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}

std::string problem_of(std::string_view text) {
  const auto config = parse_deepseek_ocr_config(text, "config.json");
  return config ? "no problem" : config.error().to_string();
}

TEST(DeepseekOcrConfig, ReadsTheTinyModel) {
  const auto config = parse_deepseek_ocr_config(kTiny, "config.json");
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_EQ(*config, tiny_config());
  EXPECT_EQ(config->head_dim(), 16);
  EXPECT_EQ(config->shared_intermediate_size(), 96);
  EXPECT_EQ(config->sam_grid(), 16);
  EXPECT_EQ(config->clip().grid(), 4);
  EXPECT_FALSE(config->v_head_dim.has_value());
}

TEST(DeepseekOcrConfig, ReadsBackWhatItWrites) {
  for (const DeepseekOcrConfig& config : {official_config(), tiny_config()}) {
    const auto text = write_json(to_node(config));
    ASSERT_TRUE(text) << text.error().to_string();
    const auto again = parse_deepseek_ocr_config(*text, "config.json");
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(*again, config);
  }
  const Node official = to_node(official_config());
  EXPECT_EQ(official.find_path("qk_nope_head_dim")->as_int(), 0);
  EXPECT_EQ(official.find_path("language_config.hidden_size")->as_int(), 1280);
  EXPECT_EQ(official.find_path("vision_config.width.clip-l-14-224.layers")->as_int(), 24);
}

TEST(DeepseekOcrConfig, ReadsAFileOfTheReferenceModules) {
  const auto path = testing::shared_dir() / "fixtures/deepseek-ocr-tiny/config.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto config = load_deepseek_ocr_config(path);
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_EQ(config->hidden_size, 64);
  EXPECT_EQ(config->sam().window_size, 14);  // not in the file: the release's
  EXPECT_EQ(config->assumed, (AssumedSizes{true, true, true, true, true}));
  EXPECT_THAT(config->sam().global_attn_indexes, ElementsAre(1, 3));
}

TEST(DeepseekOcrConfig, TakesLanguageKeysFromEitherPlace) {
  Node tree = to_node(tiny_config());
  const std::vector<std::string> keys = tree.find("language_config")->as_map().string_keys();
  Node nested_only = tree;
  for (const std::string& key : keys) nested_only.as_map().erase(key);
  tree.as_map().erase("language_config");
  for (const Node* one : {&tree, &nested_only}) {
    const auto config = read_deepseek_ocr_config(*one);
    ASSERT_TRUE(config) << config.error().to_string();
    EXPECT_EQ(*config, tiny_config());
  }
}

TEST(DeepseekOcrConfig, KnowsEqualNumbersInTheTwoPlaces) {
  const auto config = parse_deepseek_ocr_config(
      tiny_with(R"("use_mla")", R"("rope_theta": 10000, "language_config": {"rope_theta": 1e4},
                                   "use_mla")"),
      "config.json");
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_EQ(config->rope_theta, 10000.0);
}

TEST(DeepseekOcrConfig, HasAsManyKeyHeadsAsQueryHeadsWhenNotTold) {
  for (const char* text : {"", R"("num_key_value_heads": null,)"}) {
    const auto config =
        parse_deepseek_ocr_config(tiny_with(R"("num_key_value_heads": 4,)", text), "config.json");
    ASSERT_TRUE(config) << config.error().to_string();
    EXPECT_EQ(config->num_key_value_heads, 4);
  }
}

TEST(DeepseekOcrConfig, TellsWhatIsWrongAndWhere) {
  struct Case {
    std::string_view name, old_text, new_text, message;
  };
  constexpr Case kCases[] = {
      {"missing size", R"("hidden_size": 64, )", "",
       "config.json:1:1: missing key 'hidden_size' (an integer from 1 to 1048576)"},
      {"wrong type", R"("hidden_size": 64)", R"("hidden_size": "64")",
       "config.json:4:37: hidden_size: must be an integer from 1 to 1048576, not the string '64'"},
      {"zero size", R"("hidden_size": 64)", R"("hidden_size": 0)",
       "config.json:4:37: hidden_size: must be an integer from 1 to 1048576, not 0"},
      {"the two places differ", R"("use_mla": false)",
       R"("use_mla": false, "language_config": {"hidden_size": 128})",
       "config.json:4:37: hidden_size: is 64 here and 128 in language_config (line 9)"},
      {"language_config is no map", R"("use_mla": false)",
       R"("use_mla": false, "language_config": [1])",
       "config.json:9:40: language_config: must be a map, not a list"},
      {"latent attention", R"("use_mla": false)", R"("use_mla": true)",
       "config.json:9:14: use_mla: must be false: this model has no such part"},
      {"other routing", R"("greedy")", R"("group_limited_greedy")",
       "config.json:8:77: topk_method: must be 'greedy', not 'group_limited_greedy'"},
      {"heads", R"("num_attention_heads": 4)", R"("num_attention_heads": 5)",
       "config.json:6:26: num_attention_heads: must divide hidden_size (64), not 5\n"
       "config.json:6:52: num_key_value_heads: must divide num_attention_heads (5), not 4"},
      {"odd heads", R"("hidden_size": 64)", R"("hidden_size": 60)",
       "config.json:6:26: num_attention_heads: must leave an even head size for rotary positions, "
       "not 15\n"
       "config.json:12:80: projector_config.n_embed: must be 60, the decoder's hidden_size, not "
       "64"},
      {"more experts than there are", R"("num_experts_per_tok": 3)", R"("num_experts_per_tok": 9)",
       "config.json:7:72: num_experts_per_tok: must be at most n_routed_experts (8), not 9"},
      {"experts without end", R"("num_hidden_layers": 3,
  "num_attention_heads": 4, "num_key_value_heads": 4,
  "n_routed_experts": 8)",
       R"("num_hidden_layers": 1024,
  "num_attention_heads": 4, "num_key_value_heads": 4,
  "n_routed_experts": 65)",
       "config.json:7:23: n_routed_experts: must be at most 64 in each of 1024 layers (65536 in "
       "all), not 65"},
      {"end outside the vocabulary", R"("eos_token_id": 1)", R"("eos_token_id": 384)",
       "config.json:11:70: eos_token_id: must be below vocab_size (384), not 384"},
      {"SAM does not meet CLIP", "[24, 32]", "[24, 48]",
       "config.json:12:65: projector_config.input_dim: must be 80, CLIP's width and SAM's "
       "together, not 64\n"
       "config.json:19:34: vision_config.width.clip-l-14-224.width: must be 48, the last of "
       "sam_vit_b.downsample_channels, not 32"},
      {"three convolutions", "[24, 32]", "[24, 24, 32]",
       "config.json:17:44: vision_config.width.sam_vit_b.downsample_channels: must have two items, "
       "not 3"},
      {"projector's output", R"("n_embed": 64)", R"("n_embed": 65)",
       "config.json:12:80: projector_config.n_embed: must be 64, the decoder's hidden_size, not "
       "65"},
      {"other projector", R"("linear")", R"("mlp_gelu")",
       "config.json:12:42: projector_config.projector_type: must be 'linear', not 'mlp_gelu'"},
      {"global block that is not there", "[1, 3]", "[1, 4]",
       "config.json:16:82: vision_config.width.sam_vit_b.global_attn_indexes: must be below layers "
       "(4), not 4"},
      {"patches", R"("patch_size": 16)", R"("patch_size": 15)",
       "config.json:18:35: vision_config.width.sam_vit_b.patch_size: must divide "
       "vision_config.image_size (256), not 15"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(problem_of(tiny_with(c.old_text, c.new_text)), c.message);
  }
}

TEST(DeepseekOcrConfig, RefusesWhatIsNoConfig) {
  EXPECT_EQ(problem_of("[]"), "config.json:1:1: must be a map, not a list");
  EXPECT_EQ(problem_of("{"),
            "config.json:1:2: unexpected end, expected a key in double quotes or '}' (the map "
            "begins at line 1, column 1)\n  {\n   ^");
  EXPECT_EQ(problem_of(tiny_with(R"("projector_type": "linear", "input_dim": 64, )", "")),
            "config.json:12:23: projector_config: missing key 'input_dim' (an integer from 1 to "
            "2097152)");
}

}  // namespace
}  // namespace profline
