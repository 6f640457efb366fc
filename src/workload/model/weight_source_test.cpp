#include "workload/model/weight_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inputs/weights/safetensors.h"
#include "testing/temp_dir.h"

namespace profline::workload {
namespace {

TEST(CopyThreads, CopyAllOfItAndNothingBeside) {
  std::vector<std::uint32_t> values(300'001);
  std::iota(values.begin(), values.end(), 1U);
  for (const std::size_t threads : {0U, 1U, 2U, 5U}) {
    CopyThreads together(threads);
    // Below, at and above the minimum per thread; repeatedly with the same threads.
    for (const std::size_t count : {0U, 1U, 16'383U, 16'384U, 16'385U, 50'000U, 300'000U}) {
      SCOPED_TRACE(::testing::Message() << threads << " threads, " << count << " values");
      std::vector<std::uint32_t> copy(values.size(), 0U);
      together.copy(std::as_bytes(std::span(values).first(count)),
                    std::as_writable_bytes(std::span(copy)).data());
      EXPECT_TRUE(std::equal(copy.begin(), copy.begin() + static_cast<std::ptrdiff_t>(count),
                             values.begin()));
      EXPECT_EQ(std::count(copy.begin(), copy.end(), 0U),
                static_cast<std::ptrdiff_t>(values.size() - count));
    }
  }
}

std::ptrdiff_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(CopyThreads, EndWithoutHavingCopied) {
  const std::ptrdiff_t before = threads_of_this_process();
  {
    const CopyThreads idle(3);
    EXPECT_EQ(threads_of_this_process(), before + 2);
  }
  EXPECT_EQ(threads_of_this_process(), before);
}

std::span<const std::byte> bytes_of(const at::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

TEST(StagedCopy, IsWholeWhateverThePiecesAre) {
  const at::Tensor values = at::rand({7, 33}, at::kFloat);  // 924 bytes
  for (const std::size_t piece : {1U, 100U, 231U, 462U, 924U, 4096U}) {
    SCOPED_TRACE(piece);
    StagedCopy staged(piece);
    // More than there are pieces, so that each is reused.
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

class StoredWeights : public ::testing::Test {
 protected:
  weights::Checkpoint open() const {
    return weights::Checkpoint::open_file(folder_.path() / "w.safetensors").value();
  }
  void write(const std::vector<weights::Tensor>& tensors) const {
    ASSERT_TRUE(weights::write_safetensors(folder_.path() / "w.safetensors", tensors, {}));
  }

  profline::testing::TempDir folder_;
};

TEST_F(StoredWeights, OfEveryFloatDtypeAreConverted) {
  const at::Tensor values = at::tensor({1.0F, -2.5F, 0.15625F, 3.0F}).view({2, 2});
  const at::Tensor bf16 = values.to(at::kBFloat16);
  const at::Tensor f16 = values.to(at::kHalf);
  write({{"f32", weights::Dtype::F32, {2, 2}, bytes_of(values)},
         {"bf16", weights::Dtype::BF16, {2, 2}, bytes_of(bf16)},
         {"f16", weights::Dtype::F16, {2, 2}, bytes_of(f16)}});
  const weights::Checkpoint checkpoint = open();
  CheckpointWeights source(checkpoint);
  for (const char* name : {"f32", "bf16", "f16"}) {
    at::Tensor filled = at::zeros({2, 2}, at::kFloat);
    ASSERT_TRUE(source.fill(name, filled));
    EXPECT_TRUE(at::equal(filled, values)) << name;
    at::Tensor narrow = at::zeros({2, 2}, at::kBFloat16);
    ASSERT_TRUE(source.fill(name, narrow));
    EXPECT_TRUE(at::equal(narrow, bf16)) << name;
  }
}

TEST_F(StoredWeights, AreWrittenIntoPartsOfLargerTensors) {
  const at::Tensor values = at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).view({2, 2});
  write({{"w", weights::Dtype::F32, {2, 2}, bytes_of(values)}});
  const weights::Checkpoint checkpoint = open();
  CheckpointWeights source(checkpoint);
  at::Tensor larger = at::zeros({3, 4, 2}, at::kFloat);
  ASSERT_TRUE(source.fill("w", larger.select(0, 1).narrow(0, 2, 2)));
  EXPECT_TRUE(at::equal(larger[1].narrow(0, 2, 2), values));
  EXPECT_EQ(larger.sum().item<float>(), 10.0F);
}

TEST_F(StoredWeights, ThatDoNotFitAreNamed) {
  const at::Tensor values = at::zeros({2, 2}, at::kFloat);
  const at::Tensor ids = at::zeros({2}, at::kLong);
  write({{"w", weights::Dtype::F32, {2, 2}, bytes_of(values)},
         {"ids", weights::Dtype::I64, {2}, bytes_of(ids)}});
  const weights::Checkpoint checkpoint = open();
  const std::string file = (folder_.path() / "w.safetensors").string();
  CheckpointWeights source(checkpoint);
  EXPECT_EQ(source.fill("x", values).error().to_string(), file + ": no tensor 'x'");
  EXPECT_EQ(source.fill("w", at::zeros({4})).error().to_string(),
            file + ": tensor 'w' has shape [2, 2], the model needs [4]");
  EXPECT_EQ(source.fill("ids", at::zeros({2})).error().to_string(),
            file + ": tensor 'ids' has dtype I64 (F32, F16 and BF16 can be loaded)");
}

TEST(DeterministicValues, AreThoseOfTheDescription) {
  DeterministicWeights source(tiny_config());
  at::Tensor norm = at::empty({64}, at::kFloat);
  ASSERT_TRUE(source.fill("model.norm.weight", norm));
  EXPECT_EQ(norm[0].item<float>(), 0.91015625F);
  EXPECT_EQ(norm[2].item<float>(), 0.98046875F);
  at::Tensor half = at::empty({64}, at::kBFloat16);
  ASSERT_TRUE(source.fill("model.norm.weight", half));
  EXPECT_TRUE(at::equal(half.to(at::kFloat), norm));
}

TEST(RandomValues, AreSpreadByRole) {
  RandomWeights source(tiny_config(), 1, at::kCPU);
  at::Tensor norm = at::empty({64}, at::kFloat);
  ASSERT_TRUE(source.fill("model.norm.weight", norm));
  EXPECT_GT(norm.min().item<double>(), 0.9 - 1e-6);
  EXPECT_LT(norm.max().item<double>(), 1.1 + 1e-6);
  at::Tensor head = at::empty({384, 64}, at::kFloat);
  ASSERT_TRUE(source.fill("lm_head.weight", head));
  EXPECT_NEAR(head.std().item<double>(), 2.0 / 8.0, 0.01);  // twice 1/√fan_in
}

}  // namespace
}  // namespace profline::workload
