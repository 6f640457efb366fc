#include "inputs/weights/safetensors_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "inputs/weights/safetensors.h"
#include "testing/temp_dir.h"

namespace profline::weights {
namespace {

using profline::testing::TempDir;
using ::testing::ElementsAre;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(WriteSafetensors, ReadsBackAlignedAndWithMetadata) {
  const TempDir folder;
  const auto path = folder / "m.safetensors";
  const std::vector<Tensor> tensors = {
      {"small", Dtype::U8, {3}, bytes_of("abc")},
      {"wide \"名\"", Dtype::F64, {1, 1}, bytes_of("12345678")},
      {"half", Dtype::BF16, {2}, bytes_of("wxyz")},
      {"none", Dtype::F32, {0, 5}, {}},
  };
  ASSERT_TRUE(write_safetensors(path, tensors, {{"format", "pt"}}));
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(file->metadata().at("format"), "pt");
  std::vector<std::string> names;
  for (const Tensor& tensor : file->tensors()) {
    names.push_back(tensor.name);
    EXPECT_TRUE(tensor.is_aligned()) << tensor.name;
  }
  EXPECT_THAT(names, ElementsAre("wide \"名\"", "none", "half", "small"));
  EXPECT_THAT(file->tensors()[0].shape, ElementsAre(1, 1));
  EXPECT_EQ(file->tensors()[2].bytes[3], std::byte{'z'});
}

TEST(WriteSafetensors, IsByteForByteWhatTheFormatSays) {
  const TempDir folder;
  const std::vector<Tensor> tensors = {{"a", Dtype::U8, {2}, bytes_of("hi")}};
  ASSERT_TRUE(write_safetensors(folder / "m", tensors, {}));
  using namespace std::string_literals;
  EXPECT_EQ(read_file(folder / "m").value(),
            "\x38\0\0\0\0\0\0\0"s
            R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}   hi)");
}

TEST(WriteSafetensors, RefusesWhatNoReaderWouldTake) {
  struct Case {
    std::string_view name;
    std::vector<Tensor> tensors;
    std::string_view cause;
  };
  const Case cases[] = {
      {"one name twice",
       {{"a", Dtype::U8, {1}, bytes_of("x")}, {"a", Dtype::U8, {1}, bytes_of("x")}},
       "two tensors are called 'a'"},
      {"reserved name",
       {{"__metadata__", Dtype::U8, {1}, bytes_of("x")}},
       "no tensor may be called '__metadata__'"},
      {"no UTF-8", {{"\xff", Dtype::U8, {1}, bytes_of("x")}}, "a tensor's name is not UTF-8"},
      {"half a byte",
       {{"a", Dtype::F4, {1}, bytes_of("x")}},
       "tensor 'a': F4 [1] is no number of bytes"},
      {"other size",
       {{"a", Dtype::F32, {1}, bytes_of("xyz")}},
       "tensor 'a': F32 [1] takes 4 bytes, not 3"},
  };
  const TempDir folder;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto written = write_safetensors(folder / "m", c.tensors, {});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().to_string(),
              "cannot write " + (folder / "m").string() + ": " + std::string(c.cause));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(SafetensorsWriter, CountsTheBytes) {
  const TempDir folder;
  const std::vector<TensorLayout> layout = {{"a", Dtype::F32, {2}}};
  auto writer = SafetensorsWriter::create(folder / "m", layout, {});
  ASSERT_TRUE(writer) << writer.error().to_string();
  ASSERT_TRUE(writer->append(bytes_of("1234")));
  const auto early = writer->commit();
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().message(),
            "cannot write " + (folder / "m").string() + ": 4 bytes less than its header describes");
  const auto much = writer->append(bytes_of("12345"));
  ASSERT_FALSE(much);
  EXPECT_EQ(much.error().message(),
            "cannot write " + (folder / "m").string() + ": 1 bytes more than its header describes");
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
  ASSERT_TRUE(writer->append(bytes_of("5678")));
  ASSERT_TRUE(writer->commit());
  EXPECT_TRUE(SafetensorsFile::open(folder / "m"));
}

}  // namespace
}  // namespace profline::weights
