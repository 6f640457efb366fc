#include "inputs/images/orientation.h"

#include <string>

#include <gtest/gtest.h>

namespace profline::images {
namespace {

using namespace std::string_literals;

TEST(ExifOrientation, IsFoundInEitherByteOrder) {
  EXPECT_EQ(exif_orientation("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"s),
            Orientation::RightTop);
  EXPECT_EQ(exif_orientation("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x03\0\0"s),
            Orientation::BottomRight);
  // As a LONG, behind another entry.
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

}  // namespace
}  // namespace profline::images
