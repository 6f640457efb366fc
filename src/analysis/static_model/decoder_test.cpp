#include "analysis/static_model/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/json.h"

namespace profline::static_model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const NumberFormat kBf16 = *number_format("bf16");

constexpr const char* kLlama31 =
    R"({"model_type": "llama", "vocab_size": 128256, "hidden_size": 4096,
  "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 8, "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": false,
  "max_position_embeddings": 131072, "torch_dtype": "bfloat16", "rope_theta": 500000.0})";
constexpr const char* kMistral7 = R"({"model_type": "mistral", "vocab_size": 32000,
  "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "sliding_window": 4096,
  "max_position_embeddings": 32768, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";
constexpr const char* kQwen25 =
    R"({"model_type": "qwen2", "vocab_size": 152064, "hidden_size": 3584,
  "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
  "num_key_value_heads": 4, "max_window_layers": 28, "sliding_window": 131072,
  "use_sliding_window": false, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";
constexpr const char* kQwen3 = R"({"model_type": "qwen3", "vocab_size": 151936, "hidden_size": 4096,
  "intermediate_size": 12288, "num_hidden_layers": 36, "num_attention_heads": 32,
  "num_key_value_heads": 8, "head_dim": 128, "attention_bias": false, "max_window_layers": 36,
  "sliding_window": null, "use_sliding_window": false, "tie_word_embeddings": false})";
constexpr const char* kQwen3Moe = R"({"model_type": "qwen3_moe", "vocab_size": 151936,
  "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 768,
  "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
  "num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
  "norm_topk_prob": true, "attention_bias": false, "tie_word_embeddings": false})";
constexpr const char* kDeepseekV2Lite = R"({"model_type": "deepseek_v2", "vocab_size": 102400,
  "hidden_size": 2048, "intermediate_size": 10944, "moe_intermediate_size": 1408,
  "num_hidden_layers": 27, "num_attention_heads": 16, "num_key_value_heads": 16,
  "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6,
  "first_k_dense_replace": 1, "moe_layer_freq": 1, "topk_method": "greedy", "q_lora_rank": null,
  "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "attention_bias": false, "tie_word_embeddings": false})";
constexpr const char* kDeepseekV3 = R"({"model_type": "deepseek_v3", "vocab_size": 129280,
  "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
  "num_hidden_layers": 61, "num_nextn_predict_layers": 1, "num_attention_heads": 128,
  "num_key_value_heads": 128, "n_routed_experts": 256, "n_shared_experts": 1,
  "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1,
  "topk_method": "noaux_tc", "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
  "qk_rope_head_dim": 64, "v_head_dim": 128, "attention_bias": false,
  "tie_word_embeddings": false, "quantization_config": {"quant_method": "fp8"}})";

Result<Decoder> read(std::string_view json) {
  return read_decoder(PL_TRY(parse_json(json, "config.json")));
}

Decoder decoder_of(std::string_view json) {
  auto decoder = read(json);
  EXPECT_TRUE(decoder) << decoder.error().to_string();
  return decoder ? *decoder : Decoder();
}

std::uint64_t parameters(const Decoder& decoder) {
  Count sum;
  for (const ParameterGroup& group : parameter_groups(decoder)) sum += group.parameters;
  return sum.value();
}

TEST(DecoderParameters, AreThePublishedOnes) {
  struct Case {
    std::string_view name, config;
    std::uint64_t parameters;
  };
  const Case cases[] = {
      {"Llama-3.1-8B", kLlama31, 8'030'261'248},
      {"Mistral-7B", kMistral7, 7'241'732'096},
      {"Qwen2.5-7B", kQwen25, 7'615'616'512},
      {"Qwen3-8B", kQwen3, 8'190'735'360},
      {"Qwen3-30B-A3B", kQwen3Moe, 30'532'122'624},
      {"DeepSeek-V2-Lite", kDeepseekV2Lite, 15'706'484'224},
      {"DeepSeek-V3 without MTP", kDeepseekV3, 671'026'419'200},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(parameters(decoder_of(c.config)), c.parameters);
  }
}

TEST(DecoderParameters, OfStagesAreThoseOfTheModel) {
  for (const char* config : {kLlama31, kQwen25, kQwen3Moe, kDeepseekV2Lite, kDeepseekV3}) {
    const Decoder decoder = decoder_of(config);
    EXPECT_EQ(prefill_cost(decoder, kBf16, {}).total().parameters, parameters(decoder));
    EXPECT_EQ(decode_cost(decoder, kBf16, {}, 1, 1).total().parameters, parameters(decoder));
  }
}

TEST(DecoderCost, OfADenseModelIsTwoFlopsAWeightAndTheScores) {
  const Decoder llama = decoder_of(kLlama31);
  const OperatorCost step = decode_cost(llama, kBf16, {}, 1000, 1).total();
  const std::uint64_t embedding = 128256ULL * 4096;
  const std::uint64_t norms = 65ULL * 4096;
  EXPECT_EQ(step.flops, 2 * (8'030'261'248 - embedding - norms) + 32ULL * 4 * 4096 * 1000);
  EXPECT_EQ(step.weight_bytes, 2 * (8'030'261'248 - embedding));
  EXPECT_EQ(step.kv_read_bytes, 32ULL * 2 * 1024 * 2 * 1000);
  EXPECT_EQ(kv_cache_bytes(llama, kBf16, {.prompt_tokens = 1}), 131'072U);
}

TEST(DecoderCost, OfExpertsIsThatOfTheChosenOnes) {
  const Decoder qwen = decoder_of(kQwen3Moe);
  Count active;
  for (const OperatorCost& part : decode_cost(qwen, kBf16, {}, 1, 1).operators) {
    active += part.weight_bytes;
  }
  // Published as 3.3 B activated, which includes the embedding's 0.31.
  EXPECT_NEAR(active.as_double() / 2 / 1e9, 3.04, 0.01);
}

TEST(DecoderCost, OfLatentAttentionKeepsOneVectorAToken) {
  const Decoder v3 = decoder_of(kDeepseekV3);
  EXPECT_EQ(kv_cache_bytes(v3, kBf16, {.prompt_tokens = 1}), 61ULL * 576 * 2);
  const std::uint64_t context = 1000;
  const auto scores = [&](ModelPhase phase) {
    const PhaseCost cost = phase == ModelPhase::Decode
                               ? decode_cost(v3, kBf16, {}, context, 1)
                               : prefill_cost(v3, kBf16, {.prompt_tokens = 1});
    for (const OperatorCost& part : cost.operators) {
      if (part.name == "attention") return part.flops.value();
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(scores(ModelPhase::Decode), 61ULL * 2 * 128 * (512 + 64 + 512) * context);
  EXPECT_EQ(scores(ModelPhase::Prefill), 61ULL * 2 * 128 * (128 + 64 + 128));
}

TEST(DecoderCost, SeesNoMoreThanTheWindow) {
  const Decoder mistral = decoder_of(kMistral7);
  Decoder full = mistral;
  full.window.reset();
  const auto flops = [](const Decoder& decoder, std::uint64_t first, std::uint64_t steps) {
    return decode_cost(decoder, kBf16, {}, first, steps).total().flops;
  };
  EXPECT_EQ(flops(mistral, 4096, 1), flops(full, 4096, 1));
  EXPECT_EQ(flops(mistral, 5000, 1), flops(full, 4096, 1));
  EXPECT_EQ(flops(mistral, 4095, 4), flops(full, 4095, 1) + flops(full, 4096, 1) * 3);
  const auto prefill = [](const Decoder& decoder, std::uint64_t tokens) {
    return prefill_cost(decoder, kBf16, {.prompt_tokens = tokens}).total().flops.value();
  };
  const std::uint64_t a_pair = 32ULL * 4 * 4096;
  // Each token beyond the window misses as many keys as it is beyond it.
  EXPECT_EQ(prefill(full, 4106) - prefill(mistral, 4106), a_pair * (10 * 11 / 2));
}

TEST(DecoderCost, OfAPromptThatIsPartlyCachedIsThatOfTheRest) {
  for (const char* config : {kLlama31, kMistral7}) {
    const Decoder decoder = decoder_of(config);
    for (const std::uint64_t cached : {100U, 4000U, 5000U}) {
      const auto prefill = [&](std::uint64_t prompt, std::uint64_t from) {
        return prefill_cost(decoder, kBf16,
                            {.prompt_tokens = prompt, .batch = 2, .cached_tokens = from});
      };
      const OperatorCost all = prefill(6000, 0).operators[3];
      const OperatorCost before = prefill(cached, 0).operators[3];
      const OperatorCost rest = prefill(6000, cached).operators[3];
      ASSERT_EQ(rest.name, "attention");
      EXPECT_EQ(rest.flops + before.flops, all.flops) << "every pair is computed once";
      const Request given{.prompt_tokens = cached, .batch = 2};
      EXPECT_EQ(rest.kv_read_bytes, kv_cache_bytes(decoder, kBf16, given));
      const Request computed{.prompt_tokens = 6000 - cached, .batch = 2};
      EXPECT_EQ(rest.kv_write_bytes, kv_cache_bytes(decoder, kBf16, computed));
      const auto projections = [](const PhaseCost& cost) { return cost.operators[2].flops; };
      EXPECT_EQ(projections(prefill(6000, cached)), projections(prefill(6000 - cached, 0)));
    }
  }
}

/// The sum of what two costs have in common if each sequence is computed by itself; weights are
/// left out.
OperatorCost sum_of(const OperatorCost& a, const OperatorCost& b) {
  OperatorCost sum = a;
  sum.flops += b.flops;
  sum.activation_bytes += b.activation_bytes;
  sum.kv_read_bytes += b.kv_read_bytes;
  sum.kv_write_bytes += b.kv_write_bytes;
  return sum;
}

TEST(DecoderCost, OfSequencesThatDifferIsTheirSumWithTheWeightsReadOnce) {
  for (const char* config : {kMistral7, kQwen3Moe, kDeepseekV3}) {
    SCOPED_TRACE(config);
    const Decoder decoder = decoder_of(config);
    const NumberFormat format = kBf16;
    const ModelCost shorter = decoder_cost(decoder, format, {.prompt_tokens = 50, .new_tokens = 4});
    const ModelCost longer =
        decoder_cost(decoder, format, {.prompt_tokens = 6000, .new_tokens = 10});
    const ModelCost both = decoder_cost(
        decoder, format,
        {.prompt_tokens = 6000, .new_tokens = 10, .batch = 2, .sequences = {{50, 4}, {6000, 10}}});
    EXPECT_EQ(both.kv_bytes, shorter.kv_bytes + longer.kv_bytes);
    const auto expect_sum = [](const PhaseCost& a, const PhaseCost& b, const PhaseCost& of_both) {
      ASSERT_EQ(a.operators.size(), of_both.operators.size());
      for (std::size_t i = 0; i < a.operators.size(); ++i) {
        SCOPED_TRACE(a.operators[i].name);
        OperatorCost expected = sum_of(a.operators[i], b.operators[i]);
        expected.weight_bytes = of_both.operators[i].weight_bytes;
        EXPECT_EQ(of_both.operators[i], expected);
        if (expected.name == "routed experts") continue;  // another number of them is chosen
        EXPECT_EQ(of_both.operators[i].weight_bytes, b.operators[i].weight_bytes);
      }
    };
    expect_sum(*shorter.find(ModelPhase::Prefill), *longer.find(ModelPhase::Prefill),
               *both.find(ModelPhase::Prefill));
    expect_sum(*shorter.all_decode_steps, *longer.all_decode_steps, *both.all_decode_steps);
  }
}

TEST(DecoderCost, OfASequenceThatEndsEarlyReadsExpertsForTheOthersOnly) {
  const Decoder decoder = decoder_of(kQwen3Moe);
  const auto experts = [&](const Request& request) {
    const ModelCost cost = decoder_cost(decoder, kBf16, request);
    for (const OperatorCost& part : cost.all_decode_steps->operators) {
      if (part.name == "routed experts") return part.weight_bytes.as_double();
    }
    return 0.0;
  };
  const double one = experts({.prompt_tokens = 9, .new_tokens = 2});  // of a single token
  const double chosen = expected_experts(128, 8, 1);
  // Four steps: two of three tokens, then one of two, then one of one.
  const Request ragged{
      .prompt_tokens = 9, .new_tokens = 5, .batch = 3, .sequences = {{9, 4}, {7, 3}, {9, 5}}};
  const double expected =
      one / chosen *
      (2 * expected_experts(128, 8, 3) + expected_experts(128, 8, 2) + expected_experts(128, 8, 1));
  EXPECT_NEAR(experts(ragged), expected, 4);
  // Sequences that are alike are no other case than a batch.
  const Request listed{
      .prompt_tokens = 9, .new_tokens = 5, .batch = 2, .sequences = {{9, 5}, {9, 5}}};
  EXPECT_EQ(decoder_cost(decoder, kBf16, listed).all_decode_steps->operators,
            decoder_cost(decoder, kBf16, {.prompt_tokens = 9, .new_tokens = 5, .batch = 2})
                .all_decode_steps->operators);
}

TEST(DecoderCost, IsStuckRatherThanWrongWhereNumbersEnd) {
  const Decoder v3 = decoder_of(kDeepseekV3);
  const Count flops =
      prefill_cost(v3, kBf16, {.prompt_tokens = std::uint64_t{1} << 40U}).total().flops;
  EXPECT_FALSE(flops.is_exact());
  EXPECT_GT(flops.as_double(), 1e19);
}

TEST(DecoderCost, ReportsPositionsAndExperts) {
  const Request request{.prompt_tokens = 131073, .new_tokens = 2};
  EXPECT_THAT(decoder_cost(decoder_of(kLlama31), kBf16, request).notes,
              ElementsAre("prompt and new tokens exceed the model's 131072 positions"));
  EXPECT_THAT(
      decoder_cost(decoder_of(kDeepseekV3), kBf16, {}).notes,
      ElementsAre("without the 1 layer for multi-token prediction",
                  "weights of routed experts: as many as even routing is expected to choose"));
}

TEST(DecoderConfig, TakesTiedHeadsBiasesAndNorms) {
  const std::string tied = R"({"model_type": "qwen2", "vocab_size": 151936, "hidden_size": 896,
    "intermediate_size": 4864, "num_hidden_layers": 24, "num_attention_heads": 14,
    "num_key_value_heads": 2, "tie_word_embeddings": true})";
  EXPECT_EQ(parameters(decoder_of(tied)), 494'032'768U) << "Qwen2.5-0.5B";
  const Decoder qwen3 = decoder_of(kQwen3);
  EXPECT_TRUE(qwen3.qk_norm);
  EXPECT_FALSE(qwen3.qkv_bias);
  EXPECT_TRUE(decoder_of(kQwen25).qkv_bias);
  EXPECT_FALSE(decoder_of(kQwen25).output_bias);
  EXPECT_EQ(decoder_of(kQwen25).window, std::nullopt);
  EXPECT_EQ(decoder_of(kMistral7).window, 4096U);
  EXPECT_EQ(decoder_of(kLlama31).dtype, "bfloat16");
  EXPECT_THAT(decoder_of(kLlama31).notes, IsEmpty());
}

TEST(DecoderConfig, NamesWhatIsWrongWithItsPlace) {
  struct Case {
    std::string_view name, config, message;
  };
  constexpr Case kCases[] = {
      {"no model", R"({"hidden_size": 5})",
       "config.json:1:1: model_type '' has no closed form; supported: llama, mistral, mixtral, "
       "qwen2, qwen3, qwen3_moe, gemma2, gemma3_text, phi3, deepseek_v2, deepseek_v3, gpt2, opt, "
       "gemma3"},
      {"another model", R"({"model_type": "qwen4"})",
       "config.json:1:16: model_type 'qwen4' has no closed form; supported: llama, mistral, "
       "mixtral, qwen2, qwen3, qwen3_moe, gemma2, gemma3_text, phi3, deepseek_v2, deepseek_v3, "
       "gpt2, opt, gemma3 (did you mean 'qwen2'?)"},
      {"a list", "[]", "config.json:1:1: config.json must be a map, not a list"},
      {"missing and wrong keys",
       "{\"model_type\": \"llama\", \"vocab_size\": 10,\n \"hidden_size\": -4, "
       "\"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"num_key_value_heads\": 1.5}",
       "config.json:2:17: hidden_size: must be an integer from 1 to 16777216\n"
       "config.json:1:1: missing key 'intermediate_size' (an integer > 0)\n"
       "config.json:2:94: num_key_value_heads: must be an integer from 1 to 16777216"},
      {"too many experts",
       R"({"model_type": "qwen3_moe", "vocab_size": 9, "hidden_size": 4, "intermediate_size": 4,
 "num_hidden_layers": 1, "num_attention_heads": 2, "num_experts": 2, "num_experts_per_tok": 3,
 "moe_intermediate_size": 4})",
       "config.json:2:93: num_experts_per_tok: must be at most the number of experts, 2"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const auto decoder = read(c.config);
    ASSERT_FALSE(decoder);
    EXPECT_EQ(decoder.error().to_string(), c.message);
  }
}

}  // namespace
}  // namespace profline::static_model
