#include "analysis/static_model/static_compute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/temp_dir.h"

namespace profline::static_model {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StaticCompute analysed(bool on_a_device) {
  StaticCompute result;
  result.request = {.prompt_tokens = 283, .new_tokens = 64};
  result.views = {{1024, 1}};
  result.cost =
      deepseek_ocr_cost(official_config(), *number_format("bf16"), result.views, result.request);
  result.device = "NVIDIA H200";
  result.shapes_from = "model.preprocess";
  result.config_from = "config.json";
  if (on_a_device) {
    result.ceilings.device = "NVIDIA H200";
    result.ceilings.source = "a datasheet";
    result.ceilings.bytes_per_second = 4.8e12;
    result.ceilings.rates = {{settings::Cores::Tensor, settings::Precision::Bf16,
                              settings::Accumulation::Fp32, 989.5e12}};
  }
  return result;
}

TEST(StaticComputeJson, HasEveryStageAndOperatorWithItsFigures) {
  const Node document = to_node(analysed(true));
  EXPECT_EQ(document.as_map().begin()->key.as_string(), "schema");
  EXPECT_EQ(document.find("schema")->as_string(), "profline.static_compute/1");
  EXPECT_EQ(document.find_path("parameters.total")->as_int(), 3'336'106'240);
  EXPECT_EQ(document.find_path("stages.sam.flops")->as_int(), 976'909'172'736);
  EXPECT_EQ(document.find_path("stages.decode.weight_bytes")->as_int(), 1'148'254'720);
  EXPECT_EQ(document.find_path("request.context")->as_int(), 283 + 32);
  EXPECT_EQ(document.find_path("stages.decode.operators.3.name")->as_string(), "attention");
  EXPECT_EQ(document.find_path("stages.decode.operators.3.kv_read_bytes")->as_int(), 61'440 * 315);
  const double floor_ns = document.find_path("stages.decode.floor_ns")->as_float();
  EXPECT_NEAR(floor_ns, (1'148'254'720.0 + 61'440 * 316) / 4.8e12 * 1e9, 1);
  EXPECT_TRUE(document.find_path("all_decode_steps.flops")->is_int());
}

TEST(StaticComputeJson, HasNoFloorsForADeviceThatIsNotKnown) {
  const Node document = to_node(analysed(false));
  EXPECT_TRUE(document.find_path("stages.sam.floor_ns")->is_null());
  EXPECT_TRUE(document.find_path("total.floor_ns")->is_null());
  EXPECT_TRUE(document.find_path("device.name")->is_null());
  EXPECT_EQ(document.find_path("device.asked_for")->as_string(), "NVIDIA H200");
}

TEST(StaticComputeText, SaysWhatWasAskedAndWhatItComesTo) {
  const std::string text = to_text(analysed(true));
  EXPECT_THAT(text, HasSubstr("parameters  3 336 106 240, 6 672 212 480 bytes in bf16\n"));
  EXPECT_THAT(text, HasSubstr("images      1 view of 1024 px (model.preprocess)\n"));
  EXPECT_THAT(text,
              HasSubstr("device      NVIDIA H200, 990 TFLOP/s bf16, 4.80 TB/s (a datasheet)\n"));
  EXPECT_THAT(text, HasSubstr("decode, one step at context 315"));
  EXPECT_THAT(text, HasSubstr("decode, all 63 steps"));
  EXPECT_THAT(to_text(analysed(false)),
              HasSubstr("device      NVIDIA H200 is not in the table, so there are no floors\n"));
}

TEST(StaticComputeText, DoesNotLetNamesOutOfTheirLine) {
  StaticCompute result = analysed(false);
  result.device = "x\x1b[31m\ny";
  result.config_from = "a\nb";
  EXPECT_THAT(to_text(result), Not(HasSubstr("\x1b")));
  EXPECT_THAT(to_text(result), HasSubstr("deepseek_ocr (a\\nb)"));
}

TEST(StaticComputeFiles, AreTheDocumentAndThePage) {
  const testing::TempDir folder;
  const StaticCompute result = analysed(true);
  const auto written = write_static_compute(result, folder.path());
  ASSERT_TRUE(written) << written.error().to_string();
  const auto json = read_file(folder.path() / "static_compute.json");
  ASSERT_TRUE(json);
  const auto document = parse_json(*json, "static_compute.json");
  ASSERT_TRUE(document) << document.error().to_string();
  EXPECT_EQ(*document, to_node(result));
  const auto page = read_file(folder.path() / "static_compute.md");
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, HasSubstr("# Static Compute Analysis Report\n"));
  EXPECT_THAT(*page, HasSubstr("| phase | params | FLOP |"));
  const auto nowhere = write_static_compute(result, folder.path() / "none");
  ASSERT_FALSE(nowhere);
}

}  // namespace
}  // namespace profline::static_model
