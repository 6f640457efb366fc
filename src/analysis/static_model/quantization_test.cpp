#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/static_model/decoder.h"
#include "formats/json.h"

namespace profline::static_model {
namespace {

using settings::Precision;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::optional<Quantization> read(std::string_view json) {
  const auto config = parse_json(json, "config.json");
  EXPECT_TRUE(config);
  return read_quantization(&*config);
}

TEST(Quantization, KnowsHowMethodsStoreTheirWeights) {
  struct Case {
    std::string_view config, name;
    double bytes;
    std::optional<Precision> products;
  };
  const Case cases[] = {
      {R"({"quant_method": "fp8", "weight_block_size": [128, 128]})", "fp8", 1 + 4.0 / 16384,
       Precision::Fp8},
      {R"({"quant_method": "bitsandbytes", "load_in_8bit": true})", "int8", 1, Precision::Int8},
      {R"({"quant_method": "bitsandbytes", "_load_in_4bit": true, "bnb_4bit_quant_type": "nf4"})",
       "nf4", 0.5 + 4.0 / 64, std::nullopt},
      {R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4",
           "bnb_4bit_use_double_quant": true})",
       "nf4", 0.5 + 1.0 / 64 + 4.0 / (64 * 256), std::nullopt},
      {R"({"quant_method": "gptq", "bits": 4, "group_size": 128})", "4-bit", 0.5 + 2.5 / 128,
       std::nullopt},
      {R"({"quant_method": "awq", "bits": 8, "group_size": -1})", "8-bit", 1, std::nullopt},
      {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
           "weights": {"num_bits": 8, "type": "float"}, "input_activations": {"num_bits": 8}}}})",
       "fp8", 1, Precision::Fp8},
      {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
           "weights": {"num_bits": 4, "type": "int", "group_size": 32},
           "input_activations": null}}})",
       "int4", 0.5 + 2.0 / 32, std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.config);
    const auto quantization = read(c.config);
    ASSERT_TRUE(quantization && quantization->weights);
    EXPECT_EQ(quantization->weights->name, c.name);
    EXPECT_DOUBLE_EQ(quantization->weights->bytes_per_weight, c.bytes);
    EXPECT_EQ(quantization->products, c.products);
  }
}

TEST(Quantization, SaysWhenAMethodIsNotKnown) {
  const auto quantization = read(R"({"quant_method": "aqlm"})");
  ASSERT_TRUE(quantization);
  EXPECT_FALSE(quantization->weights);
  std::vector<std::string> notes;
  const NumberFormat bf16 = *number_format("bf16");
  EXPECT_EQ(with_quantization(bf16, *quantization, notes), bf16);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("aqlm")));
  EXPECT_FALSE(read("{}"));
  EXPECT_FALSE(read_quantization(nullptr));
}

TEST(Quantization, ChangesTheWeightsOfLinearLayersOnly) {
  const auto config = parse_json(R"({"model_type": "llama", "vocab_size": 1000,
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
    "num_attention_heads": 4, "dtype": "bfloat16",
    "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": -1}})",
                                 "config.json");
  const auto decoder = read_decoder(*config);
  ASSERT_TRUE(decoder) << decoder.error().to_string();
  std::vector<std::string> notes;
  const NumberFormat format =
      with_quantization(*number_format("bf16"), *decoder->quantization, notes);
  const std::uint64_t linear = 2ULL * (4 * 64 * 64 + 3 * 64 * 128);
  const std::uint64_t others = 5ULL * 64 + 1000 * 64;  // norms and the head
  const OperatorCost step = decode_cost(*decoder, format, {}, 10, 1).total();
  EXPECT_EQ(step.weight_bytes, linear / 2 + 2 * others);
  EXPECT_EQ(step.kv_read_bytes, 2ULL * 2 * 64 * 2 * 10) << "the cache is bf16";
  EXPECT_EQ(format.precision, Precision::Bf16) << "weights are expanded before the products";
  const ModelCost cost = decoder_cost(*decoder, format, {});
  EXPECT_EQ(cost.parameter_bytes(), linear / 2 + 2 * (others + 64'000));
}

}  // namespace
}  // namespace profline::static_model
