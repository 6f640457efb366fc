#include <gtest/gtest.h>

#include "inputs/images/internal/parts.h"
#include "inputs/images/picture.h"
#include "inputs/images/testing_pictures.h"

namespace profline::images {
namespace {

TEST(ResizeBicubic, GivesTheBytesOfPillow) {
  // Made with Pillow 9.4: sha256(pattern.resize(to, BICUBIC).tobytes()).
  constexpr struct {
    Size from, to;
    std::string_view sha256;
  } kCases[] = {
      {{300, 200}, {256, 171}, "619d689f0ab57c0c73ebb9757fe78b3165c0a1b4a56e64cb945e785e4064baf2"},
      {{300, 200}, {128, 128}, "bbbbd85df544daf03eabb8656108bbbf19b437979f209ea19d64b99e6bb5fdb2"},
      {{300, 200}, {320, 213}, "53462620f343149f24ba7b26f2080b4dd4cb850b35f2524f9978f48655ea34df"},
      {{300, 200}, {384, 256}, "748e2ce99496b7c7f64287b592fc983d16ec932a254f37c553589a59382efc60"},
      {{96, 64}, {256, 171}, "7bbca35695be6e42b0ed2237fa8f9c25bf8c3d612e6cb77829f6304dca613416"},
      {{200, 300}, {171, 256}, "895f4f17c15b30d513231cc1ffcce6c2a2e4a6f218301c6f4b88bfe135c7e8c1"},
      {{97, 61}, {31, 97}, "a457866cd240de84bcded1bb6858d366cf6b889113d2f00936b60e5474cb751e"},
      {{1, 1}, {5, 3}, "2311a24cbe7f1a7cde9fc70f8be1d9c6ee2f43af80ec9af536e4d1dc5d9e89eb"},
      {{1, 40}, {7, 9}, "0b8d7412907c791cfb077aa04be84689b0f7cb58a6ccbe8f01f83be9ea9942f7"},
      {{640, 481}, {641, 480}, "16f1841d35d7ac46b481974bd9184cdecc7737f3348febd8958e0e7846f7345d"},
      {{300, 200}, {300, 77}, "0a1325310fbb2f21901a72e4ddfe987116595105e5dcc32a2b9fe01a5dfe4c89"},
      {{300, 200}, {77, 200}, "5aa4cb1641e1d372aa1042d5f559198a63ace9871e26443b4b45326f14541309"},
      {{1654, 2339},
       {724, 1024},
       "700a90606704ec6e273de2eb7aa1e160cdc79058edc56ede4dd7b8f0e0c81dbc"},
      {{50, 60}, {1, 1}, "4ac5fe6b86e178f61c2c1a2cebfa78030693871895474d5309424d9ee4f1cf3f"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(digest(resize_bicubic(test_pattern(c.from), c.to)), c.sha256)
        << c.from.width << 'x' << c.from.height << " to " << c.to.width << 'x' << c.to.height;
  }
}

TEST(ResizeBicubic, LeavesAPictureOfTheSizeAlone) {
  const Picture picture = test_pattern({31, 17});
  EXPECT_EQ(resize_bicubic(picture, {31, 17}), picture);
}

TEST(ResizeBicubic, KeepsAFlatColourFlat) {
  const Picture flat(Size{50, 20}, {12, 200, 255});
  EXPECT_EQ(resize_bicubic(flat, {333, 7}), Picture(Size{333, 7}, {12, 200, 255}));
}

TEST(WeighRows, IsTheSameWithVectorsAndWithout) {
  const Picture picture = test_pattern({83, 40});
  const internal::Axis axis = internal::bicubic_axis(40, 13);
  for (std::size_t width = 0; width <= picture.row_bytes(); ++width) {
    for (const internal::Window& window : axis.windows) {
      std::vector<std::uint8_t> fast(width);
      std::vector<std::uint8_t> plain(width);
      internal::weigh_rows(picture.row(window.first), picture.row_bytes(),
                           &axis.weights[window.weights], window.count, fast.data(), width);
      internal::weigh_rows_plainly(picture.row(window.first), picture.row_bytes(),
                                   &axis.weights[window.weights], window.count, plain.data(),
                                   width);
      ASSERT_EQ(fast, plain) << width;
    }
  }
}

TEST(TransposeBlock, ExchangesRowsAndColumns) {
  constexpr std::size_t kSide = internal::kBlockSide;
  const Picture picture = test_pattern({7, 16});  // 21 bytes a row
  std::uint8_t turned[kSide * 20] = {};
  internal::transpose_block(picture.row(0), picture.row_bytes(), turned, 20);
  for (std::size_t row = 0; row < kSide; ++row) {
    for (std::size_t column = 0; column < kSide; ++column) {
      ASSERT_EQ(turned[column * 20 + row], picture.row(row)[column]);
    }
  }
}

TEST(BicubicAxis, HasWeightsThatAddUpToOne) {
  for (const auto& [from, to] : {std::pair{300U, 7U}, {7U, 300U}, {1U, 9U}, {64U, 64U}}) {
    const internal::Axis axis = internal::bicubic_axis(from, to);
    ASSERT_EQ(axis.windows.size(), to);
    for (const internal::Window& window : axis.windows) {
      std::int64_t sum = 0;
      for (std::uint32_t k = 0; k < window.count; ++k) sum += axis.weights[window.weights + k];
      EXPECT_NEAR(static_cast<double>(sum), 1 << internal::kWeightBits, window.count);
      EXPECT_LE(window.first + window.count, from);
    }
  }
}

}  // namespace
}  // namespace profline::images
