#include "workload/model/image_tokens.h"

#include <vector>

#include <gtest/gtest.h>

namespace profline::workload {
namespace {

const ImageSeparators kSeparators{at::full({1}, -1.0F), at::full({1}, -2.0F)};

std::vector<float> rows(const at::Tensor& tokens) {
  const at::Tensor flat = tokens.flatten().contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

TEST(ImageTokens, OfAPageAreItsRowsNewlinesAndTheSeparator) {
  const at::Tensor page = at::arange(4, at::kFloat).view({1, 4, 1});
  EXPECT_EQ(rows(assemble_image_tokens({}, page, {1, 1}, kSeparators)),
            (std::vector<float>{0, 1, -1, 2, 3, -1, -2}));
}

TEST(ImageTokens, TilesComeFirstAndAreStitched) {
  // Three tiles across, two down, 2×2 features each: tile t has 10t + 0..3.
  const at::Tensor tiles =
      10 * at::arange(6, at::kFloat).view({6, 1, 1}) + at::arange(4, at::kFloat).view({1, 4, 1});
  const at::Tensor page = at::full({1, 1, 1}, 99.0F);
  EXPECT_EQ(rows(assemble_image_tokens(tiles, page, {3, 2}, kSeparators)),
            (std::vector<float>{0,  1,  10, 11, 20, 21, -1,  //
                                2,  3,  12, 13, 22, 23, -1,  //
                                30, 31, 40, 41, 50, 51, -1,  //
                                32, 33, 42, 43, 52, 53, -1,  //
                                99, -1, -2}));
}

}  // namespace
}  // namespace profline::workload
