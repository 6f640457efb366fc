#include "inputs/weights/model_tensors.h"

#include <algorithm>
#include <array>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/weights/safetensors.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::weights {
namespace {

using profline::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::int64_t count_of(const std::vector<TensorSpec>& specs, std::string_view prefix) {
  return std::count_if(specs.begin(), specs.end(),
                       [&](const TensorSpec& spec) { return spec.name.starts_with(prefix); });
}

std::int64_t elements_of(const std::vector<TensorSpec>& specs, std::string_view prefix) {
  std::vector<TensorSpec> some;
  std::copy_if(specs.begin(), specs.end(), std::back_inserter(some),
               [&](const TensorSpec& spec) { return spec.name.starts_with(prefix); });
  return element_count(some);
}

const TensorSpec& named(const std::vector<TensorSpec>& specs, std::string_view name) {
  const auto spec = std::find_if(specs.begin(), specs.end(),
                                 [&](const TensorSpec& one) { return one.name == name; });
  EXPECT_NE(spec, specs.end()) << name;
  return *spec;
}

// Section 1.2 of the model's description: the published byte size, tensor by tensor.
TEST(TensorSpecs, OfTheReleaseAddUpToItsSize) {
  const auto specs = tensor_specs(official_config());
  EXPECT_EQ(specs.size(), 2710U);
  EXPECT_EQ(element_count(specs), 3'336'106'240);
  EXPECT_EQ(count_of(specs, "model.sam_model."), 179);
  EXPECT_EQ(elements_of(specs, "model.sam_model."), 95'569'152);
  EXPECT_EQ(count_of(specs, "model.vision_model."), 293);
  EXPECT_EQ(elements_of(specs, "model.vision_model."), 303'177'728);
  EXPECT_EQ(elements_of(specs, "model.projector."), 2'622'720);
  EXPECT_EQ(elements_of(specs, "model.layers.1.mlp."), 227'164'160);
  EXPECT_EQ(elements_of(specs, "model.layers.0.mlp."), 26'296'320);
  std::set<std::string> names;
  for (const TensorSpec& spec : specs) names.insert(spec.name);
  EXPECT_EQ(names.size(), specs.size());
}

TEST(TensorSpecs, OfTheTinyModel) {
  const auto specs = tensor_specs(tiny_config());
  EXPECT_EQ(specs.size(), 180U);
  EXPECT_EQ(element_count(specs), 466'464);
  EXPECT_EQ(count_of(specs, "model.sam_model."), 67);
  EXPECT_EQ(count_of(specs, "model.vision_model."), 29);
  EXPECT_THAT(named(specs, "model.sam_model.pos_embed").shape, ElementsAre(1, 16, 16, 32));
  EXPECT_THAT(named(specs, "model.sam_model.blocks.0.attn.rel_pos_h").shape, ElementsAre(9, 16));
  EXPECT_THAT(named(specs, "model.sam_model.blocks.1.attn.rel_pos_w").shape, ElementsAre(31, 16));
  EXPECT_THAT(named(specs, "model.sam_model.net_3.weight").shape, ElementsAre(32, 24, 3, 3));
  EXPECT_THAT(named(specs, "model.vision_model.embeddings.position_embedding.weight").shape,
              ElementsAre(17, 32));
  EXPECT_THAT(named(specs, "model.layers.2.mlp.experts.7.down_proj.weight").shape,
              ElementsAre(64, 48));
  EXPECT_THAT(named(specs, "model.layers.1.mlp.shared_experts.up_proj.weight").shape,
              ElementsAre(96, 64));
  EXPECT_EQ(named(specs, "model.layers.1.mlp.gate.weight").role, Role::Router);
  EXPECT_EQ(named(specs, "model.vision_model.pre_layrnorm.weight").role, Role::Norm);
}

TEST(TensorSpecs, AreThoseOfTheReferenceModules) {
  const auto folder = profline::testing::shared_dir() / "fixtures/deepseek-ocr-tiny";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const auto model = open_model(folder);
  ASSERT_TRUE(model) << model.error().to_string();
  EXPECT_THAT(model->unused, IsEmpty());
  EXPECT_EQ(model->config.sam().neck_channels, 16);  // from the shapes, not from config.json
  EXPECT_EQ(model->config.sam().window_size, 14);
  EXPECT_EQ(model->config.assumed, AssumedSizes{});
}

class CheckTest : public ::testing::Test {
 protected:
  /// A checkpoint with zeros of these shapes.
  Checkpoint written(const std::vector<TensorLayout>& layout) {
    auto writer = SafetensorsWriter::create(folder_ / "model.safetensors", layout, {});
    for (const TensorLayout& tensor : layout) {
      EXPECT_TRUE(writer->append(std::vector<std::byte>(tensor.byte_count())));
    }
    EXPECT_TRUE(writer->commit());
    return std::move(Checkpoint::open(folder_.path())).value();
  }
  std::string place() const { return (folder_ / "model.safetensors").string() + ": "; }

  TempDir folder_;
};

TEST_F(CheckTest, TellsOfTensorsThatHaveNoPlaceExceptPositionIds) {
  const std::vector<TensorSpec> specs = {{"a", {2}, Role::Bias}};
  const auto unused = check(specs, written({{"a", Dtype::F16, {2}},
                                            {"b", Dtype::F32, {1}},
                                            {"x.position_ids", Dtype::I64, {1, 17}}}));
  ASSERT_TRUE(unused) << unused.error().to_string();
  EXPECT_THAT(*unused, ElementsAre("b"));
}

TEST_F(CheckTest, NamesWhatIsMissingOrWrong) {
  const std::vector<TensorSpec> specs = {{"a", {2}, Role::Bias},
                                         {"b", {2, 3}, Role::Linear},
                                         {"c", {1}, Role::Bias},
                                         {"d", {1}, Role::Bias}};
  const auto checked = check(
      specs, written({{"b", Dtype::F32, {3, 2}}, {"c", Dtype::I64, {1}}, {"d", Dtype::BF16, {1}}}));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().to_string(),
            place() +
                "does not fit config.json: 1 of 4 tensors is missing: 'a'; 'b' has shape [3, 2], "
                "not [2, 3], 'c' is I64, not F32, F16 or BF16");
}

TEST_F(CheckTest, SizesThatTheConfigLacksComeFromTheShapes) {
  DeepseekOcrConfig config = tiny_config();
  std::vector<TensorLayout> layout;
  for (const TensorSpec& spec : tensor_specs(config)) {
    layout.push_back({spec.name, Dtype::BF16, spec.shape});
  }
  const Checkpoint checkpoint = written(layout);
  config.vision_config.width.sam.patch_size = 8;
  config.vision_config.width.sam.window_size = 14;
  config.vision_config.width.sam.neck_channels = 256;
  config.vision_config.width.sam.mlp_ratio = 3;
  config.vision_config.width.clip.mlp_ratio = 3;
  EXPECT_EQ(with_sizes_of(config, checkpoint), config);  // nothing was assumed
  config.assumed = {true, true, true, true, true};
  EXPECT_EQ(with_sizes_of(config, checkpoint), tiny_config());
}

TEST_F(CheckTest, ListsAHandful) {
  std::vector<TensorSpec> specs;
  specs.reserve(8);
  for (int i = 0; i < 8; ++i) specs.push_back({"t" + std::to_string(i), {1}, Role::Bias});
  const auto checked = check(specs, written({{"other", Dtype::F32, {1}}}));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().to_string(),
            place() +
                "does not fit config.json: 8 of 8 tensors are missing: 't0', 't1', 't2', 't3', "
                "'t4' and 3 more");
}

TensorSpec tiny_spec(std::string_view name) {
  for (TensorSpec& spec : tensor_specs(tiny_config())) {
    if (spec.name == name) return spec;
  }
  ADD_FAILURE() << name;
  return {"", {1}, Role::Bias};
}

std::array<float, 3> first_three(std::string_view name) {
  std::array<float, 3> values{};
  fill(tiny_spec(name), values);
  return values;
}

// Section 9.3 of the model's description.
TEST(DeterministicWeights, AreTheDescribedNumbers) {
  EXPECT_EQ(name_hash("model.norm.weight"), 0xd6d6e5afd11604e4U);
  EXPECT_EQ(name_hash("lm_head.weight"), 0xab67eb515e1b6f0dU);
  EXPECT_THAT(first_three("model.norm.weight"), ElementsAre(0.91015625F, 0.92578125F, 0.98046875F));
  EXPECT_THAT(first_three("lm_head.weight"),
              ElementsAre(0.427734375F, 0.419921875F, -0.396484375F));
  EXPECT_THAT(first_three("model.sam_model.pos_embed"),
              ElementsAre(0.1640625F, 0.1474609375F, 0.09814453125F));
}

TEST(DeterministicWeights, CanBeMadeInPieces) {
  const TensorSpec spec = tiny_spec("model.embed_tokens.weight");
  std::vector<float> whole(100);
  std::vector<float> pieces(100);
  std::vector<std::uint16_t> halves(40);
  fill(spec, whole);
  fill(spec, std::span(pieces).first(33));
  fill(spec, std::span(pieces).subspan(33), 33);
  fill_bf16(spec, halves, 60);
  EXPECT_EQ(pieces, whole);
  for (std::size_t i = 0; i < halves.size(); ++i) EXPECT_EQ(from_bf16(halves[i]), whole[60 + i]);
}

TEST(DeterministicWeights, StayInTheRangeOfTheirRole) {
  for (const TensorSpec& spec : tensor_specs(tiny_config())) {
    std::vector<float> values(static_cast<std::size_t>(spec.element_count()));
    fill(spec, values);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    EXPECT_GT(*most, *least) << spec.name;
    EXPECT_LE(*most, spec.role == Role::Norm ? 1.1015625F : 1.0F) << spec.name;
    EXPECT_GE(*least, spec.role == Role::Norm ? 0.8984375F : -1.0F) << spec.name;
  }
}

}  // namespace
}  // namespace profline::weights
