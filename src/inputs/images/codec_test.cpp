#include "inputs/images/codec.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files.h"
#include "inputs/images/testing_pictures.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::images {
namespace {

using namespace std::string_literals;

TEST(ExifOrientation, IsFoundInEitherByteOrder) {
  EXPECT_EQ(exif_orientation("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"s),
            Orientation::RightTop);
  EXPECT_EQ(exif_orientation("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x03\0\0"s),
            Orientation::BottomRight);
  // As a LONG, after another entry.
  EXPECT_EQ(exif_orientation("MM\0*\0\0\0\x08\0\x02\x01\x0f\0\x02\0\0\0\x01\0\0\0\0"
                             "\x01\x12\0\x04\0\0\0\x01\0\0\0\x08"s),
            Orientation::LeftBottom);
}

TEST(ExifOrientation, OfDamagedDataIsNone) {
  const struct {
    std::string_view name;
    std::string bytes;
  } cases[] = {
      {"empty", ""},
      {"no TIFF", "XX*\0\x08\0\0\0"s},
      {"wrong number", "II+\0\x08\0\0\0\x01\0"s},
      {"no directory", "II*\0"s},
      {"directory outside", "II*\0\xff\xff\xff\xff"s},
      {"entries cut off", "II*\0\x08\0\0\0\xff\xff\x12\x01\x03"s},
      {"two values", "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x02\0\0\0\x06\0\0\0"s},
      {"a text", "II*\0\x08\0\0\0\x01\0\x12\x01\x02\0\x01\0\0\0\x06\0\0\0"s},
      {"zero", "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\0\0\0\0"s},
      {"nine", "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x09\0\0\0"s},
      {"value cut off", "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06"s},
  };
  for (const auto& c : cases) EXPECT_EQ(exif_orientation(c.bytes), std::nullopt) << c.name;
}

namespace fs = std::filesystem;

fs::path golden_dir() {
  return testing::source_dir() / "tests/golden/pictures";
}

std::vector<std::string> golden_cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(golden_dir())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string input_of(const std::string& name) {
  for (const auto& entry : fs::directory_iterator(golden_dir() / name)) {
    if (entry.path().stem() == "input") return read_file(entry.path()).value();
  }
  ADD_FAILURE() << "no input in " << name;
  return {};
}

/// One folder each: a file and the result of Pillow 9.4 (for 16 bits: the upper 8).
class GoldenPicture : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenPicture, IsReadAsPillowReadsIt) {
  const auto picture = decode(input_of(GetParam()));
  ASSERT_TRUE(picture) << picture.error().to_string();
  const auto expected = load(golden_dir() / GetParam() / "expected.png");
  ASSERT_TRUE(expected) << expected.error().to_string();
  EXPECT_EQ(picture->size(), expected->size());
  EXPECT_EQ(*picture, *expected);
}

TEST_P(GoldenPicture, HasTheSizeItsHeaderSays) {
  const std::string bytes = input_of(GetParam());
  const auto header = read_header(bytes);
  ASSERT_TRUE(header) << header.error().to_string();
  EXPECT_EQ(header->size, decode(bytes).value().size());
  EXPECT_EQ(header->format, GetParam().starts_with("png") ? Format::Png : Format::Jpeg);
}

TEST_P(GoldenPicture, CutOffAnywhereIsAnErrorOrTheWholePicture) {
  const std::string bytes = input_of(GetParam());
  const Picture whole = decode(bytes).value();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto picture = decode(std::string_view(bytes).substr(0, size));
    EXPECT_TRUE(!picture || *picture == whole) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenPicture, ::testing::ValuesIn(golden_cases()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Decode, TellsWhatIsWrong) {
  const std::string png = encode_png(test_pattern({40, 30})).value();
  const std::string jpeg = encode_jpeg(test_pattern({40, 30})).value();
  const auto with = [](std::string bytes, std::size_t at, std::string_view change) {
    return bytes.replace(at, change.size(), change);
  };
  // Width and height of a JPEG follow its frame marker, two bytes each.
  const std::size_t frame = jpeg.find("\xff\xc0") + 5;
  // A PNG's IHDR with a valid checksum, and hardly any pixels.
  const std::string huge(
      "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\x0a\0\x08\x02\0\0\0\xeb\xe5\xf0\xb5"
      "\0\0\0\x02IDATxx\0\0\0\0",
      47);
  const struct {
    std::string_view name;
    std::string bytes;
    std::string message;
  } cases[] = {
      {"empty", "", "empty file, not a PNG or JPEG image"},
      {"text", "hello", "not a PNG or JPEG image: its first bytes match neither format"},
      {"GIF", "GIF89a....", "this is a GIF image; only PNG and JPEG images are supported"},
      {"WebP", "RIFF....WEBPVP8 ", "this is a WebP image; only PNG and JPEG images are supported"},
      {"PDF", "%PDF-1.4", "this is a PDF document; only PNG and JPEG images are supported"},
      {"LFS", "version https://git-lfs.github.com/spec/v1\n",
       "this is a pointer of Git LFS, whose file was not fetched; only PNG and JPEG images are "
       "supported"},
      {"PNG signature alone", png.substr(0, 8),
       "cut off: the PNG data ends after 8 bytes, before it is complete"},
      {"PNG cut in its pixels", png.substr(0, 100),
       "cut off: the PNG data ends after 100 bytes, before it is complete"},
      {"PNG without its end", png.substr(0, png.size() - 12),
       "cut off: the PNG data ends after " + std::to_string(png.size() - 12) +
           " bytes, before it is complete"},
      {"PNG with a wrong checksum", with(png, png.size() - 13, "\x55"),
       "damaged PNG data before byte " + std::to_string(png.size() - 12) + ": IDAT: CRC error"},
      {"PNG with changed pixels", with(png, 43, "\xff\xff"),
       "damaged PNG data before byte " + std::to_string(png.size() - 16) +
           ": IDAT: invalid block type"},
      {"PNG of no width", with(png, 16, std::string_view("\0\0\0\0", 4)),
       "damaged PNG data before byte 33: IHDR: CRC error"},
      {"PNG that lies", huge, "false header: 65535x2560 pixels cannot be in a file of 47 bytes"},
      {"JPEG signature alone", jpeg.substr(0, 3),
       "cut off: the JPEG data ends after 3 bytes, before it is complete"},
      {"JPEG cut in its pixels", jpeg.substr(0, jpeg.size() - 20),
       "cut off: the JPEG data ends after " + std::to_string(jpeg.size() - 20) +
           " bytes, before it is complete"},
      {"JPEG with a marker in its pixels", with(jpeg, jpeg.size() - 200, "\xff\xd9"),
       "damaged JPEG data: premature end of data segment"},
      {"JPEG of no width", with(jpeg, frame + 2, std::string_view("\0\0", 2)),
       "damaged JPEG data: Empty JPEG image (DNL not supported)"},
      {"JPEG that lies", with(jpeg, frame, "\x20\x20\x20\x20"),
       "false header: 8224x8224 pixels cannot be in a file of " + std::to_string(jpeg.size()) +
           " bytes"},
      {"JPEG too large", with(jpeg, frame, "\x7f\xf0\x7f\xf0"),
       "image of 32752x32752 pixels; at most 178956970 in total are supported"},
      {"JPEG of 12 bits", with(jpeg, frame - 1, "\x0c"),
       "damaged JPEG data: Unsupported JPEG data precision 12"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto picture = decode(c.bytes);
    ASSERT_FALSE(picture);
    EXPECT_EQ(picture.error().to_string(), c.message);
    EXPECT_EQ(picture.error().kind(), ErrorKind::Parse);
  }
}

TEST(Decode, RefusesAPictureThatIsRefinedForever) {
  const std::string jpeg = input_of("jpeg-progressive");
  // The first scan, of mean values, can be read any number of times; tables for others follow it.
  const std::size_t scan = jpeg.find("\xff\xda");
  const std::size_t end = jpeg.find("\xff\xc4", scan);
  std::string bytes = jpeg.substr(0, scan);
  for (int i = 0; i < 600; ++i) bytes += jpeg.substr(scan, end - scan);
  bytes += jpeg.substr(end);
  EXPECT_EQ(decode(bytes).error().to_string(), "damaged JPEG data: more than 500 scans");
}

TEST(Decode, KeepsToItsLimits) {
  const std::string png = encode_png(test_pattern({40, 30})).value();
  const auto message = [&](const Limits& limits) {
    return decode(png, limits).error().to_string();
  };
  EXPECT_EQ(message({.max_file_bytes = 100}),
            "file of " + std::to_string(png.size()) + " B; at most 100 B are supported");
  EXPECT_EQ(message({.max_side = 39}), "image of 40x30 pixels; at most 39 per side are supported");
  EXPECT_EQ(message({.max_pixels = 1199}),
            "image of 40x30 pixels; at most 1199 in total are supported");
  EXPECT_TRUE(decode(png, {.max_file_bytes = png.size(), .max_side = 40, .max_pixels = 1200}));
}

TEST(Load, NamesTheFile) {
  const testing::TempDir folder;
  const fs::path path = folder / "a page, with spaces (\xe9\xa1\xb5).png";
  EXPECT_EQ(load(path).error().to_string(), "cannot read " + path.string() + ": no such file");
  EXPECT_EQ(load(path).error().kind(), ErrorKind::NotFound);
  ASSERT_TRUE(write_file_atomic(path, "nonsense"));
  EXPECT_EQ(load(path).error().to_string(),
            "reading " + path.string() +
                ": not a PNG or JPEG image: its first bytes match neither format");
  const Picture picture = test_pattern({5, 4});
  ASSERT_TRUE(write_file_atomic(path, encode_png(picture).value()));
  EXPECT_EQ(load(path).value(), picture);
  EXPECT_EQ(load(path, {.max_file_bytes = 10}).error().to_string(),
            "reading " + path.string() + ": file of " + std::to_string(fs::file_size(path)) +
                " B; at most 10 B are supported");
}

TEST(EncodePng, KeepsEveryPixel) {
  for (const Size size : {Size{1, 1}, Size{3, 200}, Size{257, 2}}) {
    const Picture picture = test_pattern(size);
    EXPECT_EQ(decode(encode_png(picture).value()).value(), picture);
  }
}

TEST(EncodeJpeg, IsCloseAndSmallerWithLessQuality) {
  Picture picture(Size{64, 48});
  for (std::size_t i = 0; i < picture.rgb.size(); ++i) {
    picture.rgb[i] = static_cast<std::uint8_t>(i / picture.row_bytes() * 5);
  }
  const std::string fine = encode_jpeg(picture, 95).value();
  const std::string coarse = encode_jpeg(picture, 20).value();
  EXPECT_LT(coarse.size(), fine.size());
  const Picture again = decode(fine).value();
  ASSERT_EQ(again.size(), picture.size());
  for (std::size_t i = 0; i < picture.rgb.size(); ++i) {
    ASSERT_LE(std::abs(again.rgb[i] - picture.rgb[i]), 4) << i;
  }
}

TEST(Encode, RefusesWhatAFileCannotHold) {
  EXPECT_EQ(encode_png(Picture()).error().to_string(), "a PNG image must have at least one pixel");
  EXPECT_EQ(encode_jpeg(Picture()).error().to_string(),
            "a JPEG image must have 1 to 65500 pixels per side, not 0x0");
  EXPECT_EQ(encode_jpeg(Picture(Size{65501, 1})).error().to_string(),
            "a JPEG image must have 1 to 65500 pixels per side, not 65501x1");
  EXPECT_TRUE(encode_jpeg(Picture(Size{65500, 1})));
}

}  // namespace
}  // namespace profline::images
