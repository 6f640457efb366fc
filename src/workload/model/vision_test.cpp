#include "workload/model/vision.h"

#include <vector>

#include <gtest/gtest.h>

#include "workload/model/attention.h"
#include "workload/model/testing_tensors.h"

namespace profline::workload {
namespace {

using testing::largest_difference;
using testing::random_tensor;

/// Values from −1 to 1 for any name, each tensor its own.
class AnyWeights : public WeightSource {
 public:
  Result<void> fill(std::string_view name, at::Tensor destination) override {
    destination.copy_(random_tensor(destination.sizes(), std::hash<std::string_view>{}(name)));
    return {};
  }
};

SamAttention make_attention(bool fused, std::int64_t table_side) {
  AnyWeights weights;
  ModelOptions options;
  options.fused_attention = fused;
  TensorLoader loader(weights, options);
  return {loader, "attn", /*width=*/12, /*heads=*/2, table_side};
}

TEST(SamAttention, FusedAndExplicitAgree) {
  // At the table's own side, below and above it, and where vectors need padding.
  for (const std::int64_t side : {5, 3, 8}) {
    const at::Tensor x = random_tensor({2, side, side, 12}, 3);
    const at::Tensor fused = make_attention(true, 5)(x);
    EXPECT_EQ(fused.sizes(), x.sizes());
    EXPECT_LT(largest_difference(fused, make_attention(false, 5)(x)), 2e-5) << side;
  }
}

TEST(SamAttention, DependsOnWhereAKeyIs) {
  // Without positions, attention would only permute with its input.
  const at::Tensor x = random_tensor({1, 3, 3, 12}, 3);
  const SamAttention attention = make_attention(true, 3);
  const at::Tensor turned = x.transpose(1, 2).contiguous();
  EXPECT_GT(largest_difference(attention(turned).transpose(1, 2), attention(x)), 1e-3);
}

TEST(Windows, AreCutRowByRowAndPaddedBelowAndRight) {
  const at::Tensor map = at::arange(1, 13, at::kFloat).view({1, 3, 4, 1});
  const at::Tensor windows = split_windows(map, 2);
  ASSERT_EQ(windows.sizes(), (at::IntArrayRef{4, 2, 2, 1}));
  EXPECT_TRUE(at::equal(windows[0].flatten(), at::tensor({1.0F, 2.0F, 5.0F, 6.0F})));
  EXPECT_TRUE(at::equal(windows[1].flatten(), at::tensor({3.0F, 4.0F, 7.0F, 8.0F})));
  EXPECT_TRUE(at::equal(windows[2].flatten(), at::tensor({9.0F, 10.0F, 0.0F, 0.0F})));
  EXPECT_TRUE(at::equal(windows[3].flatten(), at::tensor({11.0F, 12.0F, 0.0F, 0.0F})));
  EXPECT_TRUE(at::equal(join_windows(windows, 3, 4), map));
}

TEST(Windows, OfSeveralMapsStayApart) {
  const at::Tensor maps = random_tensor({3, 7, 5, 2}, 4);
  EXPECT_TRUE(at::equal(join_windows(split_windows(maps, 3), 7, 5), maps));
}

TEST(Windows, PaddingTakesPartInAttention) {
  // A 3×3 map in windows of 5: as the release has it, the padding's keys and values (the bias of
  // qkv) count. Attending over the 3×3 map alone, which is what masking would do, differs.
  const at::Tensor map = random_tensor({1, 3, 3, 12}, 3);
  const SamAttention attention = make_attention(true, 5);
  const at::Tensor padded = join_windows(attention(split_windows(map, 5)), 3, 3);
  EXPECT_GT(largest_difference(padded, attention(map)), 1e-2);
}

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
