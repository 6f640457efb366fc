#include "workload/model/staged_copy.h"

#include <gtest/gtest.h>

namespace profline::workload {
namespace {

std::span<const std::byte> bytes_of(const at::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

TEST(StagedCopy, IsWholeWhateverThePiecesAre) {
  const at::Tensor values = at::rand({7, 33}, at::kFloat);  // 924 bytes
  for (const std::size_t piece : {1U, 100U, 231U, 462U, 924U, 4096U}) {
    SCOPED_TRACE(piece);
    StagedCopy staged(piece);
    // More than there are pieces, so that each is used again.
    for (int i = 0; i < 9; ++i) {
      const at::Tensor larger = at::zeros({3, 7, 33}, at::kFloat);
      staged.copy(bytes_of(values), larger.select(0, 1));
      EXPECT_TRUE(at::equal(larger[1], values));
      EXPECT_EQ(larger[0].count_nonzero().item<std::int64_t>(), 0);
      EXPECT_EQ(larger[2].count_nonzero().item<std::int64_t>(), 0);
    }
  }
}

TEST(StagedCopy, IsOfBytesWhateverTheyMean) {
  const at::Tensor values = at::rand({5, 3}, at::kFloat).to(at::kBFloat16);
  at::Tensor copy = at::zeros({5, 3}, at::kBFloat16);
  StagedCopy(7).copy(bytes_of(values), copy);
  EXPECT_TRUE(at::equal(copy, values));
}

}  // namespace
}  // namespace profline::workload
