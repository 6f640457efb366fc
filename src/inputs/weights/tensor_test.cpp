#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "inputs/weights/safetensors.h"

namespace profline::weights {
namespace {

TEST(Dtype, IsKnownByItsName) {
  int count = 0;
  for (int number = 0; number <= static_cast<int>(Dtype::U64); ++number) {
    const auto dtype = static_cast<Dtype>(number);
    EXPECT_EQ(dtype_named(name(dtype)), dtype) << name(dtype);
    ++count;
  }
  EXPECT_EQ(count, 22);
  EXPECT_EQ(dtype_named("float32"), std::nullopt);
  EXPECT_EQ(bits(Dtype::BF16), 16U);
  EXPECT_EQ(bits(Dtype::F4), 4U);
}

TEST(Bf16, RoundsToNearestWithTiesToEven) {
  struct Case {
    float value;
    std::uint16_t bits;
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Case cases[] = {
      {1.0F, 0x3f80},
      {-0.0F, 0x8000},
      {1.0F + 0x1p-8F, 0x3f80},             // halfway, to even
      {1.0F + 3 * 0x1p-8F, 0x3f82},         // halfway, to even
      {1.0F + 0x1p-8F + 0x1p-20F, 0x3f81},  // above halfway
      {std::numeric_limits<float>::max(), 0x7f80},
      {kInfinity, 0x7f80},
      {-kInfinity, 0xff80},
  };
  for (const Case& c : cases) EXPECT_EQ(to_bf16(c.value), c.bits) << c.value;
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::numeric_limits<float>::signaling_NaN()))));
  EXPECT_EQ(from_bf16(0x3fc0), 1.5F);
}

}  // namespace
}  // namespace profline::weights
