#include "inputs/weights/checkpoint.h"

#include <algorithm>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "inputs/weights/model_tensors.h"
#include "inputs/weights/safetensors.h"
#include "testing/temp_dir.h"

namespace profline::weights {
namespace {

using profline::testing::TempDir;
using ::testing::ElementsAre;

class CheckpointTest : public ::testing::Test {
 protected:
  void write(const std::string& file, std::string_view text) {
    ASSERT_TRUE(write_file_atomic(folder_ / file, text));
  }
  void write_shard(const std::string& file, const std::vector<std::string>& names) {
    std::vector<Tensor> tensors;
    tensors.reserve(names.size());
    for (const std::string& name : names) {
      tensors.push_back({name, Dtype::U8, {1}, std::as_bytes(std::span(name.data(), 1))});
    }
    ASSERT_TRUE(write_safetensors(folder_ / file, tensors, {}));
  }
  std::string problem() const {
    const auto checkpoint = Checkpoint::open(folder_.path());
    return checkpoint ? "no problem" : checkpoint.error().to_string();
  }
  std::string at(std::string_view file) const { return (folder_ / file).string(); }

  TempDir folder_;
};

TEST_F(CheckpointTest, FindsTensorsOfAllShards) {
  write_shard("one.safetensors", {"a", "c"});
  write_shard("two.safetensors", {"b"});
  write("model.safetensors.index.json",
        R"({"metadata": {"total_size": 3}, "weight_map": {"a": "one.safetensors",
            "b": "two.safetensors", "c": "one.safetensors"}})");
  auto opened = Checkpoint::open(folder_.path());
  ASSERT_TRUE(opened) << opened.error().to_string();
  const Checkpoint checkpoint = std::move(*opened);  // pointers survive the move
  EXPECT_EQ(checkpoint.tensors().size(), 3U);
  EXPECT_EQ(checkpoint.byte_count(), 3U);
  EXPECT_EQ(checkpoint.source(), folder_ / "model.safetensors.index.json");
  ASSERT_NE(checkpoint.find("b"), nullptr);
  EXPECT_EQ(checkpoint.find("b")->bytes[0], std::byte{'b'});
  EXPECT_EQ(checkpoint.find("d"), nullptr);
}

TEST_F(CheckpointTest, KnowsWhichFilesAreMissingWithoutOpeningThem) {
  EXPECT_THAT(missing_files(folder_.path()).value(), ElementsAre("model.safetensors"));
  write(
      "model.safetensors.index.json",
      R"({"weight_map": {"a": "two.safetensors", "b": "one.safetensors", "c": "two.safetensors"}})");
  EXPECT_THAT(missing_files(folder_.path()).value(),
              ElementsAre("one.safetensors", "two.safetensors"));
  write("two.safetensors", "");
  EXPECT_THAT(missing_files(folder_.path()).value(), ElementsAre("one.safetensors"));
  write("one.safetensors", "");
  EXPECT_THAT(missing_files(folder_.path()).value(), ElementsAre());
  write("model.safetensors.index.json", "{}");
  EXPECT_EQ(missing_files(folder_.path()).error().to_string(),
            at("model.safetensors.index.json") +
                ":1:1: must have a map 'weight_map' from tensors to files");
  write("model.safetensors", "");
  EXPECT_THAT(missing_files(folder_.path()).value(), ElementsAre());
}

TEST_F(CheckpointTest, PrefersTheSingleFile) {
  write_shard("model.safetensors", {"a"});
  write("model.safetensors.index.json", "{}");
  const auto checkpoint = Checkpoint::open(folder_.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().to_string();
  EXPECT_NE(checkpoint->find("a"), nullptr);
}

TEST_F(CheckpointTest, TellsWhatIsWrongWithAnIndex) {
  struct Case {
    std::string_view name, index, message;
  };
  constexpr Case kCases[] = {
      {"no map", "[]", ":1:1: must have a map 'weight_map' from tensors to files"},
      {"no weight_map", "{}", ":1:1: must have a map 'weight_map' from tensors to files"},
      {"another folder", R"({"weight_map": {"a": "../one.safetensors"}})",
       ":1:22: weight_map: tensor 'a' must be in a file of the same folder, not in "
       "'../one.safetensors'"},
      {"the folder above", R"({"weight_map": {"a": ".."}})",
       ":1:22: weight_map: tensor 'a' must be in a file of the same folder, not in '..'"},
      {"no name", R"({"weight_map": {"a": 3}})",
       ":1:22: weight_map: tensor 'a' must be in a file of the same folder, not in 3"},
      {"tensor elsewhere", R"({"weight_map": {"b": "one.safetensors"}})",
       ": weight_map: tensor 'b' is not in one.safetensors"},
  };
  write_shard("one.safetensors", {"a"});
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    write("model.safetensors.index.json", c.index);
    EXPECT_EQ(problem(), at("model.safetensors.index.json") + std::string(c.message));
  }
  write("model.safetensors.index.json", R"({"weight_map": {"a": "none.safetensors"}})");
  EXPECT_EQ(problem(), "cannot read " + at("none.safetensors") + ": no such file");
}

TEST_F(CheckpointTest, SaysWhatAFolderWithoutWeightsLacks) {
  EXPECT_EQ(problem(), "no weights in " + folder_.path().string() +
                           ": neither model.safetensors nor model.safetensors.index.json is there");
}

using ::testing::IsEmpty;

/// Checks that every tensor of the checkpoint as floats matches the generator.
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

// Tensors of several chunks, the last one not full.
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
                " already holds a checkpoint (model.safetensors); choose another folder");
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
