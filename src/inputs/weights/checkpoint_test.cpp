#include "inputs/weights/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "inputs/weights/safetensors_write.h"
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

}  // namespace
}  // namespace profline::weights
