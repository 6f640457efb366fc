#include <algorithm>
#include <cstddef>
#include <optional>

#include "workload/fast/kernels/prefill.h"
#include "workload/fast/kernels/testing_device.h"

namespace profline::workload::fast {
namespace {

using testing::StoredOnDevice;

using SamKernels = testing::KernelTest;
INSTANTIATE_TEST_SUITE_P(Stored, SamKernels, ::testing::Values(Stored::Bf16, Stored::Fp32),
                         testing::stored_name);

/// Two maps of 5 × 5 in windows of 3 × 3: the last ones are padded.
constexpr SamWindows kWindows{/*maps=*/2, /*side=*/5, /*window=*/3, /*heads=*/2, /*head_dim=*/16};
constexpr std::size_t kSide = 5;
constexpr std::size_t kWindow = 3;
constexpr std::size_t kAcross = 2;
constexpr std::size_t kHeads = 2;
constexpr std::size_t kDim = 16;
constexpr std::size_t kTokens = 2 * kSide * kSide;
constexpr std::size_t kRows = 2 * kAcross * kAcross * kHeads * kWindow * kWindow;
constexpr std::size_t kLength = 24;  // 16 + 2 · 3, rounded up to whole words

/// Row of [windows, H, window²]: which head, and where in its window.
struct Place {
  std::size_t window, head, row, column;

  explicit Place(std::size_t index)
      : window(index / (kHeads * kWindow * kWindow)),
        head(index / (kWindow * kWindow) % kHeads),
        row(index / kWindow % kWindow),
        column(index % kWindow) {}

  /// Its index among the maps' tokens; absent in padding.
  std::optional<std::size_t> token() const {
    const std::size_t y = window / kAcross % kAcross * kWindow + row;
    const std::size_t x = window % kAcross * kWindow + column;
    if (y >= kSide || x >= kSide) return std::nullopt;
    return (window / (kAcross * kAcross) * kSide + y) * kSide + x;
  }
};

TEST_P(SamKernels, PackWindowsWithRelativePositions) {
  const auto qkv = random((kTokens + 1) * 3 * kHeads * kDim);
  const auto products = random(kHeads * (kTokens + 1) * 4 * kWindow);
  StoredOnDevice qkv_there(qkv, GetParam());
  StoredOnDevice products_there(products, GetParam());
  StoredOnDevice queries(kRows * kLength, GetParam());
  StoredOnDevice keys(kRows * kLength, GetParam());
  StoredOnDevice values(kRows * kDim, GetParam());
  const SamPack pack{kWindows,   qkv_there.get(), products_there.get(),     queries.get(),
                     keys.get(), values.get(),    static_cast<int>(kLength)};
  ASSERT_EQ(launch_sam_pack(pack, GetParam(), nullptr), cudaSuccess);

  std::vector<float> expected_queries;
  std::vector<float> expected_keys;
  std::vector<float> expected_values;
  for (std::size_t index = 0; index < kRows; ++index) {
    const Place place(index);
    const std::size_t token = place.token().value_or(kTokens);  // the last row is the padding's
    const auto part = [&](std::size_t which) {
      return qkv.data() + ((token * 3 + which) * kHeads + place.head) * kDim;
    };
    const float* product = products.data() + (place.head * (kTokens + 1) + token) * 4 * kWindow;
    expected_queries.insert(expected_queries.end(), part(0), part(0) + kDim);
    expected_keys.insert(expected_keys.end(), part(1), part(1) + kDim);
    expected_values.insert(expected_values.end(), part(2), part(2) + kDim);
    for (std::size_t other = 0; other < kWindow; ++other) {  // rows −(w−1) … w−1, then columns
      expected_queries.push_back(product[place.row + kWindow - 1 - other]);
      expected_keys.push_back(other == place.row ? 1.0F : 0.0F);
    }
    for (std::size_t other = 0; other < kWindow; ++other) {
      expected_queries.push_back(product[2 * kWindow - 1 + place.column + kWindow - 1 - other]);
      expected_keys.push_back(other == place.column ? 1.0F : 0.0F);
    }
    expected_queries.resize((index + 1) * kLength);
    expected_keys.resize((index + 1) * kLength);
  }
  EXPECT_EQ(queries.values(), expected_queries);
  EXPECT_EQ(keys.values(), expected_keys);
  EXPECT_EQ(values.values(), expected_values);
}

TEST_P(SamKernels, UnpackWindowsWithoutTheirPadding) {
  const auto attended = random(kRows * kDim);
  StoredOnDevice from(attended, GetParam());
  StoredOnDevice tokens(kTokens * kHeads * kDim, GetParam());
  ASSERT_EQ(launch_sam_unpack(kWindows, from.get(), tokens.get(), GetParam(), nullptr),
            cudaSuccess);
  std::vector<float> expected(kTokens * kHeads * kDim);
  for (std::size_t index = 0; index < kRows; ++index) {
    const Place place(index);
    const auto token = place.token();
    if (!token) continue;
    std::copy_n(attended.data() + index * kDim, kDim,
                expected.data() + (*token * kHeads + place.head) * kDim);
  }
  EXPECT_EQ(tokens.values(), expected);
}

}  // namespace
}  // namespace profline::workload::fast
