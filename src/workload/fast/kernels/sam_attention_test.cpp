#include "workload/fast/kernels/sam_attention.h"

#include <optional>

#include "workload/fast/kernels/testing_device.h"

namespace profline::workload::fast {
namespace {

using testing::StoredOnDevice;

using SamKernels = testing::KernelTest;
INSTANTIATE_TEST_SUITE_P(Stored, SamKernels, ::testing::Values(Stored::Bf16, Stored::Fp32),
                         testing::stored_name);

/// Two maps of 5 × 5 in windows of 3 × 3: the last ones are padded.
constexpr SamWindows kWindows{/*maps=*/2, /*side=*/5, /*window=*/3, /*heads=*/2, /*head_dim=*/16};
constexpr int kTokens = 2 * 5 * 5;
constexpr int kLength = 24;  // 16 + 2 · 3, rounded up to whole words

/// One token of one window.
struct Place {
  int window, row, column;

  /// Its number among the maps' tokens; none where the window is padded.
  std::optional<int> token() const {
    const int across = kWindows.across();
    const int y = window / across % across * kWindows.window + row;
    const int x = window % across * kWindows.window + column;
    if (y >= kWindows.side || x >= kWindows.side) return std::nullopt;
    return (window / (across * across) * kWindows.side + y) * kWindows.side + x;
  }
};

/// Calls `each(place, head, row of [windows, H, window²])`.
template <typename Each>
void for_each_row(const Each& each) {
  int row = 0;
  for (int window = 0; window < kWindows.count(); ++window) {
    for (int head = 0; head < kWindows.heads; ++head) {
      for (int token = 0; token < kWindows.window * kWindows.window; ++token, ++row) {
        each(Place{window, token / kWindows.window, token % kWindows.window}, head, row);
      }
    }
  }
}

TEST_P(SamKernels, PackWindowsWithRelativePositions) {
  const int w = kWindows.window;
  const int d = kWindows.head_dim;
  const int heads = kWindows.heads;
  const auto qkv = random(static_cast<std::size_t>((kTokens + 1) * 3 * heads * d));
  const auto products = random(static_cast<std::size_t>(heads * (kTokens + 1) * 4 * w));
  const auto rows = static_cast<std::size_t>(kWindows.count() * heads * w * w);
  StoredOnDevice qkv_there(qkv, GetParam());
  StoredOnDevice products_there(products, GetParam());
  StoredOnDevice queries(rows * kLength, GetParam());
  StoredOnDevice keys(rows * kLength, GetParam());
  StoredOnDevice values(rows * static_cast<std::size_t>(d), GetParam());
  const SamPack pack{kWindows,     qkv_there.get(), products_there.get(), queries.get(), keys.get(),
                     values.get(), kLength};
  ASSERT_EQ(launch_sam_pack(pack, GetParam(), nullptr), cudaSuccess);

  std::vector<float> expected_queries;
  std::vector<float> expected_keys;
  std::vector<float> expected_values;
  for_each_row([&](const Place& place, int head, int) {
    const int token = place.token().value_or(kTokens);  // the last row is the padding's
    const auto part = [&](int which) {
      return qkv.data() + ((token * 3 + which) * heads + head) * d;
    };
    const float* product = products.data() + (head * (kTokens + 1) + token) * 4 * w;
    expected_queries.insert(expected_queries.end(), part(0), part(0) + d);
    expected_keys.insert(expected_keys.end(), part(1), part(1) + d);
    expected_values.insert(expected_values.end(), part(2), part(2) + d);
    for (int other = 0; other < w; ++other) {  // rows −(w−1) … w−1, then columns
      expected_queries.push_back(product[place.row - other + w - 1]);
      expected_keys.push_back(other == place.row ? 1.0F : 0.0F);
    }
    for (int other = 0; other < w; ++other) {
      expected_queries.push_back(product[2 * w - 1 + place.column - other + w - 1]);
      expected_keys.push_back(other == place.column ? 1.0F : 0.0F);
    }
    expected_queries.resize(expected_queries.size() +
                            static_cast<std::size_t>(kLength - d - 2 * w));
    expected_keys.resize(expected_queries.size());
  });
  EXPECT_EQ(queries.values(), expected_queries);
  EXPECT_EQ(keys.values(), expected_keys);
  EXPECT_EQ(values.values(), expected_values);
}

TEST_P(SamKernels, UnpackWindowsWithoutTheirPadding) {
  const int d = kWindows.head_dim;
  const int heads = kWindows.heads;
  const auto attended = random(
      static_cast<std::size_t>(kWindows.count() * heads * kWindows.window * kWindows.window * d));
  StoredOnDevice from(attended, GetParam());
  StoredOnDevice tokens(static_cast<std::size_t>(kTokens * heads * d), GetParam());
  ASSERT_EQ(launch_sam_unpack(kWindows, from.get(), tokens.get(), GetParam(), nullptr),
            cudaSuccess);
  std::vector<float> expected(static_cast<std::size_t>(kTokens * heads * d));
  for_each_row([&](const Place& place, int head, int row) {
    const auto token = place.token();
    if (!token) return;
    std::copy_n(attended.begin() + row * d, d, expected.begin() + (*token * heads + head) * d);
  });
  EXPECT_EQ(tokens.values(), expected);
}

}  // namespace
}  // namespace profline::workload::fast
