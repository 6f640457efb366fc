// Model types other than Llama's descendants: parameter counts as published, costs by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/static_model/decoder.h"
#include "formats/json.h"

namespace profline::static_model {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const NumberFormat kBf16 = *number_format("bf16");

constexpr const char* kMixtral = R"({"model_type": "mixtral", "vocab_size": 32000,
  "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 8,
  "num_experts_per_tok": 2, "sliding_window": null, "tie_word_embeddings": false})";
constexpr const char* kGemma2 = R"({"model_type": "gemma2", "vocab_size": 256000,
  "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
  "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096,
  "query_pre_attn_scalar": 256, "attn_logit_softcapping": 50.0})";
constexpr const char* kGemma3Text = R"({"model_type": "gemma3_text", "vocab_size": 262144,
  "hidden_size": 1152, "intermediate_size": 6912, "num_hidden_layers": 26,
  "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "sliding_window": 512,
  "sliding_window_pattern": 6})";
// As published: text_config leaves out what equals the defaults.
constexpr const char* kGemma3 = R"({"model_type": "gemma3", "torch_dtype": "bfloat16",
  "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
    "num_hidden_layers": 34, "sliding_window": 1024},
  "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152, "image_size": 896,
    "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 27,
    "patch_size": 14, "vision_use_head": false}})";
constexpr const char* kPhi3 = R"({"model_type": "phi3", "vocab_size": 32064, "hidden_size": 3072,
  "intermediate_size": 8192, "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 32, "sliding_window": 2047, "tie_word_embeddings": false})";
constexpr const char* kGpt2 = R"({"model_type": "gpt2", "vocab_size": 50257, "n_embd": 768,
  "n_layer": 12, "n_head": 12, "n_positions": 1024, "n_ctx": 1024, "n_inner": null})";
constexpr const char* kOpt125 = R"({"model_type": "opt", "vocab_size": 50272, "hidden_size": 768,
  "num_hidden_layers": 12, "ffn_dim": 3072, "num_attention_heads": 12,
  "max_position_embeddings": 2048, "do_layer_norm_before": true, "word_embed_proj_dim": 768})";
constexpr const char* kOpt350 = R"({"model_type": "opt", "vocab_size": 50272, "hidden_size": 1024,
  "num_hidden_layers": 24, "ffn_dim": 4096, "num_attention_heads": 16,
  "max_position_embeddings": 2048, "do_layer_norm_before": false, "word_embed_proj_dim": 512})";

Decoder decoder_of(std::string_view json) {
  const auto config = parse_json(json, "config.json");
  EXPECT_TRUE(config) << config.error().to_string();
  const auto decoder = read_decoder(*config);
  EXPECT_TRUE(decoder) << decoder.error().to_string();
  return decoder ? *decoder : Decoder();
}

std::uint64_t parameters(const Decoder& decoder) {
  Count sum;
  for (const ParameterGroup& group : parameter_groups(decoder)) sum += group.parameters;
  return sum.value();
}

OperatorCost part_of(const PhaseCost& cost, std::string_view name) {
  for (const OperatorCost& part : cost.operators) {
    if (part.name == name) return part;
  }
  ADD_FAILURE() << "no operator " << name;
  return {};
}

TEST(DecoderFamilies, HaveThePublishedNumberOfParameters) {
  struct Case {
    std::string_view name, config;
    std::uint64_t parameters;
  };
  const Case cases[] = {
      {"Mixtral-8x7B", kMixtral, 46'702'792'704}, {"Gemma 2 2B", kGemma2, 2'614'341'888},
      {"Gemma 3 1B", kGemma3Text, 999'885'952},   {"Gemma 3 4B", kGemma3, 4'300'079'472},
      {"Phi-3-mini", kPhi3, 3'821'079'552},       {"GPT-2", kGpt2, 124'439'808},
      {"OPT-125M", kOpt125, 125'239'296},         {"OPT-350M", kOpt350, 331'196'416},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(parameters(decoder_of(c.config)), c.parameters);
  }
}

TEST(DecoderFamilies, HaveTheSameParametersInTheirCosts) {
  for (const char* config : {kMixtral, kGemma2, kGemma3Text, kPhi3, kGpt2, kOpt125, kOpt350}) {
    const Decoder decoder = decoder_of(config);
    SCOPED_TRACE(decoder.model_type);
    EXPECT_EQ(prefill_cost(decoder, kBf16, {}).total().parameters, parameters(decoder));
    EXPECT_EQ(decode_cost(decoder, kBf16, {}, 1, 1).total().parameters, parameters(decoder));
  }
}

TEST(DecoderFamilies, CountTheTensorsOfTheCheckpoint) {
  const auto tensors = [](const char* config) {
    Count sum;
    for (const ParameterGroup& group : parameter_groups(decoder_of(config))) sum += group.tensors;
    return sum.value();
  };
  // GPT-2: two tables, the last norm, and weight and bias of six operators per block.
  EXPECT_EQ(tensors(kGpt2), 2U + 2 + 12 * 12);
  EXPECT_EQ(tensors(kPhi3), 2U + 1 + 32 * 6);
  EXPECT_EQ(tensors(kOpt350), 2U + 2 + 24 * 16);
  EXPECT_EQ(tensors(kMixtral), 2U + 1 + 32 * (4 + 2 + 1 + 8 * 3));
}

TEST(Gpt2Cost, IsTwoFlopsPerWeightAndTheScores) {
  const Decoder gpt2 = decoder_of(kGpt2);
  const std::uint64_t matrices = 12ULL * (4 * 768 * 768 + 2 * 768 * 3072) + 50257ULL * 768;
  const OperatorCost step = decode_cost(gpt2, kBf16, {}, 100, 1).total();
  EXPECT_EQ(step.flops, 2 * matrices + 12ULL * 4 * 768 * 100);
  // All but the position table is read: the head shares the embedding's weights.
  EXPECT_EQ(step.weight_bytes, 2 * (124'439'808ULL - 1024 * 768));
  EXPECT_EQ(step.kv_read_bytes, 12ULL * 2 * 768 * 2 * 100);
  const OperatorCost prompt = prefill_cost(gpt2, kBf16, {.prompt_tokens = 10, .batch = 3}).total();
  const std::uint64_t head = 50257ULL * 768;
  EXPECT_EQ(prompt.flops, 2 * (matrices - head) * 30 + 2 * head * 3 + 12ULL * 4 * 768 * 55 * 3);
  EXPECT_EQ(prompt.weight_bytes, step.weight_bytes) << "weights are read once for the batch";
}

TEST(MixtralCost, ReadsTheExpertsThatABatchIsExpectedToChoose) {
  const Decoder mixtral = decoder_of(kMixtral);
  const std::uint64_t expert = 3ULL * 4096 * 14336;
  const auto step = [&](std::uint64_t batch) {
    return decode_cost(mixtral, kBf16, {.batch = batch}, 1000, 1);
  };
  const OperatorCost one = part_of(step(1), "routed experts");
  EXPECT_EQ(one.flops, 32ULL * 2 * 2 * expert);
  EXPECT_EQ(one.weight_bytes, 32ULL * 2 * expert * 2);
  const OperatorCost four = part_of(step(4), "routed experts");
  EXPECT_EQ(four.flops, 4 * one.flops.value());
  // 8 (1 - (6/8)^4) = 5.46875 of 8 experts.
  EXPECT_EQ(four.weight_bytes, 32ULL * 2 * expert * 546'875 / 100'000);
  EXPECT_EQ(part_of(step(4), "router").flops, 32ULL * 2 * 4096 * 8 * 4);
  EXPECT_EQ(part_of(step(4), "attention").kv_read_bytes, 4ULL * 32 * 2 * 1024 * 2 * 1000);
}

TEST(Gemma2Cost, LimitsEverySecondLayerToItsWindow) {
  const Decoder gemma = decoder_of(kGemma2);
  EXPECT_EQ(gemma.windowed_layers, 13U);
  const std::uint64_t a_token = 2ULL * 4 * 256 * 2;
  const auto read = [&](std::uint64_t context) {
    return decode_cost(gemma, kBf16, {}, context, 1).total().kv_read_bytes;
  };
  EXPECT_EQ(read(4000), a_token * 26 * 4000);
  EXPECT_EQ(read(5000), a_token * (13ULL * 5000 + 13ULL * 4096));
  EXPECT_EQ(kv_cache_bytes(gemma, kBf16, {.prompt_tokens = 5000, .batch = 2}),
            2 * a_token * (13ULL * 5000 + 13ULL * 4096));
}

TEST(Windows, ComeFromLayerTypesIfTheConfigHasThem) {
  struct Case {
    std::string_view name, config;
    std::uint64_t windowed;
  };
  const Case cases[] = {
      {"Gemma 3: five of six", kGemma3Text, 22},
      {"Phi-3: all", kPhi3, 32},
      {"listed",
       R"({"model_type": "qwen3", "vocab_size": 9, "hidden_size": 64, "intermediate_size": 64,
           "num_hidden_layers": 3, "num_attention_heads": 1, "num_key_value_heads": 1,
           "use_sliding_window": true, "sliding_window": 8, "max_window_layers": 0,
           "layer_types": ["full_attention", "sliding_attention", "full_attention"]})",
       1},
      {"from max_window_layers on",
       R"({"model_type": "qwen2", "vocab_size": 9, "hidden_size": 64, "intermediate_size": 64,
           "num_hidden_layers": 5, "num_attention_heads": 1, "num_key_value_heads": 1,
           "use_sliding_window": true, "sliding_window": 8, "max_window_layers": 3})",
       2},
      {"not used",
       R"({"model_type": "qwen2", "vocab_size": 9, "hidden_size": 64, "intermediate_size": 64,
           "num_hidden_layers": 2, "num_attention_heads": 1, "num_key_value_heads": 1,
           "use_sliding_window": false, "sliding_window": 8, "max_window_layers": 0})",
       0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(decoder_of(c.config).windowed_layers, c.windowed);
  }
}

TEST(VisionTower, CountsButCostsNothing) {
  const Decoder gemma = decoder_of(kGemma3);
  EXPECT_EQ(gemma.model_type, "gemma3");
  EXPECT_EQ(gemma.dtype, "bfloat16");
  EXPECT_THAT(gemma.notes, Contains(HasSubstr("prompts without images")));
  const std::uint64_t projector = 1152ULL * 2560 + 1152;
  EXPECT_EQ(gemma.other_parts.at(1).parameters, projector);
  EXPECT_EQ(decode_cost(gemma, kBf16, {}, 1, 1).total().parameters,
            parameters(gemma) - gemma.other_parts.at(0).parameters.value() - projector);
}

TEST(OptCost, ProjectsANarrowEmbedding) {
  const Decoder opt = decoder_of(kOpt350);
  const PhaseCost prompt = prefill_cost(opt, kBf16, {.prompt_tokens = 10});
  EXPECT_EQ(part_of(prompt, "embedding projections").flops, 2ULL * 512 * 1024 * (10 + 1));
  EXPECT_EQ(part_of(prompt, "lm_head").flops, 2ULL * 50272 * 512);
  EXPECT_FALSE(opt.final_norm);
}

TEST(RouterBias, IsABufferThatCountsForTheCheckpointOnly) {
  const Decoder v3 = decoder_of(R"({"model_type": "deepseek_v3", "vocab_size": 100,
    "hidden_size": 32, "intermediate_size": 64, "moe_intermediate_size": 16,
    "num_hidden_layers": 3, "num_attention_heads": 2, "n_routed_experts": 8,
    "n_shared_experts": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 1,
    "q_lora_rank": 8, "kv_lora_rank": 8, "qk_nope_head_dim": 4, "qk_rope_head_dim": 4,
    "v_head_dim": 4})");
  Count buffers;
  for (const ParameterGroup& group : parameter_groups(v3)) {
    if (group.is_buffer) buffers += group.parameters;
  }
  EXPECT_EQ(buffers, 2U * 8);
}

}  // namespace
}  // namespace profline::static_model
