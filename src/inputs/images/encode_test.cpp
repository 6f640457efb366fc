#include "inputs/images/encode.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "inputs/images/decode.h"
#include "inputs/images/internal/pictures_for_tests.h"

namespace profline::images {
namespace {

TEST(EncodePng, KeepsEveryPixel) {
  for (const Size size : {Size{1, 1}, Size{3, 200}, Size{257, 2}}) {
    const Picture picture = internal::test_pattern(size);
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
  EXPECT_EQ(encode_png(Picture()).error().to_string(),
            "a PNG picture must have at least one pixel");
  EXPECT_EQ(encode_jpeg(Picture()).error().to_string(),
            "a JPEG picture must have 1 to 65500 pixels a side, not 0x0");
  EXPECT_EQ(encode_jpeg(Picture(Size{65501, 1})).error().to_string(),
            "a JPEG picture must have 1 to 65500 pixels a side, not 65501x1");
  EXPECT_TRUE(encode_jpeg(Picture(Size{65500, 1})));
}

}  // namespace
}  // namespace profline::images
