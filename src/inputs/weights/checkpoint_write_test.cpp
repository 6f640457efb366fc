#include "inputs/weights/checkpoint_write.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "inputs/weights/deterministic.h"
#include "inputs/weights/tensor_specs.h"
#include "testing/temp_dir.h"

namespace profline::weights {
namespace {

using profline::testing::TempDir;
using ::testing::IsEmpty;

/// Every tensor of the checkpoint as floats is what the generator says.
void expect_generated(const Model& model, Dtype dtype) {
  for (const TensorSpec& spec : tensor_specs(model.config)) {
    const Tensor* tensor = model.checkpoint.find(spec.name);
    ASSERT_NE(tensor, nullptr) << spec.name;
    ASSERT_EQ(tensor->dtype, dtype) << spec.name;
    ASSERT_TRUE(tensor->is_aligned()) << spec.name;
    std::vector<float> expected(static_cast<std::size_t>(spec.element_count()));
    fill(spec, expected);
    std::vector<float> stored(expected.size());
    if (dtype == Dtype::F32) {
      std::memcpy(stored.data(), tensor->bytes.data(), tensor->bytes.size());
    } else {
      std::vector<std::uint16_t> halves(expected.size());
      std::memcpy(halves.data(), tensor->bytes.data(), tensor->bytes.size());
      std::transform(halves.begin(), halves.end(), stored.begin(), from_bf16);
    }
    ASSERT_EQ(stored, expected) << spec.name;
  }
}

TEST(WriteCheckpoint, ReadsBackInBothDtypes) {
  for (const Dtype dtype : {Dtype::F32, Dtype::BF16}) {
    const TempDir folder;
    NullProgress progress;
    const auto written = write_checkpoint(folder / "new/tiny", tiny_config(), dtype, progress);
    ASSERT_TRUE(written) << written.error().to_string();
    const auto model = open_model(folder / "new/tiny");
    ASSERT_TRUE(model) << model.error().to_string();
    EXPECT_THAT(model->unused, IsEmpty());
    EXPECT_EQ(model->config.torch_dtype, dtype == Dtype::F32 ? "float32" : "bfloat16");
    EXPECT_EQ(model->checkpoint.byte_count(), 466'464U * bits(dtype) / 8);
    expect_generated(*model, dtype);
  }
}

// Tensors of several chunks, and a last one that is not full.
TEST(WriteCheckpoint, StreamsTensorsOfAnySize) {
  DeepseekOcrConfig config = tiny_config();
  config.vocab_size = 9001;
  const TempDir folder;
  NullProgress progress;
  ASSERT_TRUE(write_checkpoint(folder.path(), config, Dtype::BF16, progress));
  const auto model = open_model(folder.path());
  ASSERT_TRUE(model) << model.error().to_string();
  expect_generated(*model, Dtype::BF16);
  const auto index =
      parse_json(read_file(folder / "model.safetensors.index.json").value(), "index");
  EXPECT_EQ(index->find_path("metadata.total_size")->as_int(),
            static_cast<std::int64_t>(model->checkpoint.byte_count()));
}

TEST(WriteCheckpoint, LeavesAnotherCheckpointAlone) {
  const TempDir folder;
  ASSERT_TRUE(write_file_atomic(folder / "model.safetensors", "theirs"));
  NullProgress progress;
  const auto written = write_checkpoint(folder.path(), tiny_config(), Dtype::F32, progress);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().to_string(),
            folder.path().string() +
                " holds a checkpoint already (model.safetensors); name another folder");
  EXPECT_FALSE(std::filesystem::exists(folder / "config.json"));
}

TEST(WriteCheckpoint, NeedsRoomOnTheDisk) {
  DeepseekOcrConfig config = official_config();
  config.vocab_size = deepseek_ocr::kMaxIds;
  config.hidden_size = deepseek_ocr::kMaxSize;
  const TempDir folder;
  NullProgress progress;
  const auto written = write_checkpoint(folder / "large", config, Dtype::F32, progress);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind(), ErrorKind::Config);
  EXPECT_THAT(written.error().message(),
              ::testing::StartsWith("the checkpoint takes 327.5 TiB, and " +
                                    (folder / "large").string() + " has room for "));
  EXPECT_FALSE(std::filesystem::exists(folder / "large"));
}

}  // namespace
}  // namespace profline::weights
