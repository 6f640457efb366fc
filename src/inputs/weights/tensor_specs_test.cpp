#include "inputs/weights/tensor_specs.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/weights/safetensors_write.h"
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
  EXPECT_EQ(model->config.sam().neck_channels, 16);  // the shapes say so, config.json does not
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
                "does not fit config.json: 1 of 4 tensors are missing: 'a'; 'b' has shape [3, 2], "
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

}  // namespace
}  // namespace profline::weights
