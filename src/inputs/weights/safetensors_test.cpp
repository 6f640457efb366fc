#include "inputs/weights/safetensors.h"

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::weights {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// A safetensors file with this header, valid or not, and that many bytes of data.
std::string file_with(std::string_view header, std::size_t data_bytes) {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) {
    file += static_cast<char>(static_cast<unsigned char>(std::uint64_t{header.size()} >> shift));
  }
  file += header;
  for (std::size_t i = 0; i < data_bytes; ++i) file += static_cast<char>(i % 128);
  return file;
}

std::string problem_of(std::string_view file) {
  const auto header = read_header(file, "m.safetensors");
  return header ? "no problem" : header.error().to_string();
}

TEST(SafetensorsHeader, IsReadInTheOrderOfTheData) {
  const auto header = read_header(file_with(R"({"__metadata__": {"format": "pt"},
                    "b": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [8, 20]},
                    "empty": {"dtype": "F32", "shape": [0, 7], "data_offsets": [20, 20]},
                    "a": {"dtype": "I64", "shape": [], "data_offsets": [0, 8]}}     )",
                                            20),
                                  "m.safetensors");
  ASSERT_TRUE(header) << header.error().to_string();
  ASSERT_EQ(header->entries.size(), 3U);
  EXPECT_EQ(header->entries[0].name, "a");
  EXPECT_EQ(header->entries[0].dtype, Dtype::I64);
  EXPECT_TRUE(header->entries[0].shape.empty());
  EXPECT_EQ(header->entries[1].name, "b");
  EXPECT_THAT(header->entries[1].shape, ElementsAre(2, 3));
  EXPECT_EQ(header->entries[2].name, "empty");
  EXPECT_THAT(header->metadata, ElementsAre(Pair("format", "pt")));
}

TEST(SafetensorsHeader, MayDescribeNothing) {
  EXPECT_EQ(problem_of(file_with("{}", 0)), "no problem");
}

TEST(SafetensorsHeader, OfAHostileFileIsRefused) {
  struct Case {
    std::string_view name, header;
    std::size_t data_bytes;
    std::string_view message;
  };
  constexpr Case kCases[] = {
      {"no map", "[]", 0, "m.safetensors, header:1:1: must be a map of tensors, not a list"},
      {"no JSON", "{", 0,
       "m.safetensors, header:1:2: unexpected end, expected a key in double quotes or '}' (the map "
       "begins at line 1, column 1)\n  {\n   ^"},
      {"one name twice",
       R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       1,
       "m.safetensors, header:1:54: duplicate key \"a\" (first at line 1, column 2)\n  "
       "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"a\":{\"dtype\":\"U8\","
       "\"shape\":["
       "1],\"data_offsets\n                                                       ^"},
      {"no UTF-8", "{\"\xff\": 1}", 0,
       "m.safetensors, header:1:3: byte 0xFF is not valid UTF-8\n  {\"\xff\": 1}\n    ^"},
      {"tensor is no map", R"({"a": 3})", 0,
       "m.safetensors, header:1:7: tensor 'a': must be a map with dtype, shape and data_offsets, "
       "not the integer 3"},
      {"no dtype", R"({"a":{"shape":[1],"data_offsets":[0,1]}})", 1,
       "m.safetensors, header:1:6: tensor 'a': missing key 'dtype'"},
      {"unknown dtype", R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", 4,
       "m.safetensors, header:1:15: tensor 'a': dtype: must be one that the format knows, such as "
       "BF16, F16, F32 or I64, not 'F33'"},
      {"shape is no list", R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", 1,
       "m.safetensors, header:1:28: tensor 'a': shape: must be a list of integers, not the integer "
       "1"},
      {"negative size", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1,
       "m.safetensors, header:1:29: tensor 'a': shape: must be a list of integers from 0 to "
       "9223372036854775807; one of them is the integer -1"},
      {"size of more than 63 bits",
       R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1]}})", 1,
       "m.safetensors, header:1:29: tensor 'a': shape: must be a list of integers from 0 to "
       "9223372036854775807; one of them is the integer 9223372036854775808"},
      {"product overflows",
       R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
       "m.safetensors, header:1:6: tensor 'a': F32 [4294967296, 4294967296] has more bits than 64 "
       "bits can count"},
      {"bits overflow",
       R"({"a":{"dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0,
       "m.safetensors, header:1:6: tensor 'a': F64 [4611686018427387904] has more bits than 64 "
       "bits "
       "can count"},
      {"half a byte", R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2,
       "m.safetensors, header:1:6: tensor 'a': F4 [3] is not a whole number of bytes"},
      {"offsets backwards", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1,
       "m.safetensors, header:1:47: tensor 'a': data_offsets: must be the begin and the end of its "
       "bytes, not [1, 0]"},
      {"three offsets", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", 1,
       "m.safetensors, header:1:47: tensor 'a': data_offsets: must be the begin and the end of its "
       "bytes, not [0, 1, 2]"},
      {"offset that is no integer", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1.0]}})", 1,
       "m.safetensors, header:1:50: tensor 'a': data_offsets: must be a list of integers from 0 to "
       "9223372036854775807; one of them is the float 1.0"},
      {"wrong size", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
       "m.safetensors, header:1:48: tensor 'a': data_offsets: F32 [2] takes 8 bytes, not 4"},
      {"outside the file", R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", 4,
       "m.safetensors: the header describes 9 bytes of data and 4 follow it: the file is "
       "truncated"},
      {"bytes too many", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 4,
       "m.safetensors: the header describes 2 bytes of data and 4 follow it: the file has "
       "extra data"},
      {"overlap",
       R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       4,
       "m.safetensors: tensor 'b' begins at byte 2 of the data, inside tensor 'a' that ends at 3"},
      {"hole",
       R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       4,
       "m.safetensors: tensor 'b' begins at byte 2 of the data, and bytes 1 to 2 before it belong "
       "to no tensor"},
      {"metadata is no map", R"({"__metadata__": []})", 0,
       "m.safetensors, header:1:18: __metadata__: must be a map of strings, not a list"},
      {"metadata that is no text", R"({"__metadata__": {"a": 1}})", 0,
       "m.safetensors, header:1:24: __metadata__.a: must be a string, not the integer 1"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(problem_of(file_with(c.header, c.data_bytes)), c.message);
  }
}

TEST(SafetensorsHeader, WhoseLengthLiesIsRefusedUnread) {
  EXPECT_EQ(
      problem_of(""),
      "m.safetensors: not a safetensors file: 0 bytes, and the header's length alone takes 8");
  EXPECT_EQ(
      problem_of("1234567"),
      "m.safetensors: not a safetensors file: 7 bytes, and the header's length alone takes 8");
  EXPECT_EQ(
      problem_of("\x7f\x45LF padding and more"),
      "m.safetensors: not a safetensors file, or a damaged one: the first 8 bytes say that the "
      "header has 7233185760454395263 bytes; at most 100000000 are allowed");
  EXPECT_EQ(problem_of(std::string("\x10\0\0\0\0\0\0\0{}", 10)),
            "m.safetensors: the header has 16 bytes, but only 2 follow its length: the file is "
            "truncated");
}

TEST(SafetensorsFile, HandsOutBytesInPlace) {
  const profline::testing::TempDir folder;
  const auto path = folder / "m.safetensors";
  ASSERT_TRUE(write_file_atomic(
      path, file_with(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                      R"("w":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}  )",
                      6)));
  auto opened = SafetensorsFile::open(path);
  ASSERT_TRUE(opened) << opened.error().to_string();
  const SafetensorsFile file = std::move(*opened);
  ASSERT_EQ(file.tensors().size(), 2U);
  EXPECT_THAT(file.tensors()[0].bytes, ElementsAre(std::byte{0}, std::byte{1}));
  EXPECT_EQ(file.tensors()[1].bytes[0], std::byte{2});
  EXPECT_TRUE(file.tensors()[0].is_aligned());
  EXPECT_FALSE(file.tensors()[1].is_aligned());  // two bytes after an odd header
}

TEST(SafetensorsFile, MustBeAFile) {
  const profline::testing::TempDir folder;
  const auto absent = SafetensorsFile::open(folder / "m.safetensors");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().to_string(),
            "cannot read " + (folder / "m.safetensors").string() + ": no such file");
  EXPECT_EQ(absent.error().kind(), ErrorKind::NotFound);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto pipe = SafetensorsFile::open(folder / "pipe");
  ASSERT_FALSE(pipe);
  EXPECT_EQ(pipe.error().to_string(),
            "cannot read " + (folder / "pipe").string() + ": it is not a regular file");
}

TEST(SafetensorsFile, OfTheReferenceIsRead) {
  const auto path =
      profline::testing::shared_dir() / "fixtures/deepseek-ocr-tiny/model.safetensors";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_EQ(file->tensors().size(), 180U);
  EXPECT_EQ(file->tensors()[0].name, "lm_head.weight");
  EXPECT_THAT(file->metadata(), ElementsAre(Pair("format", "pt")));
}

using profline::testing::TempDir;

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
       "tensor 'a': F4 [1] is not a whole number of bytes"},
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
            "cannot write " + (folder / "m").string() + ": 1 byte more than its header describes");
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
  ASSERT_TRUE(writer->append(bytes_of("5678")));
  ASSERT_TRUE(writer->commit());
  EXPECT_TRUE(SafetensorsFile::open(folder / "m"));
}

}  // namespace
}  // namespace profline::weights
