#include "workload/ceilings/kernels/memory_loops.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace profline::workload::ceilings {
namespace {

constexpr std::size_t kBytes = 24 * kLoopBytes;
constexpr std::size_t kWords = kBytes / sizeof(std::uint32_t);

/// An array on the device, filled by launch_fill().
class Filled {
 public:
  explicit Filled(std::uint32_t seed, std::size_t bytes = kBytes) {
    EXPECT_EQ(cudaMalloc(&start_, bytes), cudaSuccess);
    EXPECT_EQ(launch_fill(start_, bytes, seed, nullptr), cudaSuccess);
  }
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;
  ~Filled() { cudaFree(start_); }
  void* get() const { return start_; }
  std::vector<std::uint32_t> words(std::size_t count = kWords) const {
    std::vector<std::uint32_t> copy(count);
    EXPECT_EQ(cudaMemcpy(copy.data(), start_, count * sizeof(std::uint32_t), cudaMemcpyDefault),
              cudaSuccess);
    return copy;
  }

 private:
  void* start_ = nullptr;
};

class MemoryLoops : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
      GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(status);
    }
  }
};

std::uint32_t combined(const std::vector<std::uint32_t>& words) {
  std::uint32_t all = 0;
  for (const std::uint32_t word : words) all ^= word;
  return all;
}

/// The checksums of a loop, which are 0 before it.
template <typename Launch>
std::vector<std::uint32_t> checksums_of(const Launch& launch) {
  const Filled sums(0, kLoopBytes);
  EXPECT_EQ(cudaMemset(sums.get(), 0, kChecksums * sizeof(std::uint32_t)), cudaSuccess);
  EXPECT_EQ(launch(static_cast<std::uint32_t*>(sums.get())), cudaSuccess);
  return sums.words(kChecksums);
}

std::vector<LoopForm> forms() {
  std::vector<LoopForm> all;
  for (const int unroll : {4, 8, 16}) {
    for (const int threads : {128, 256, 512, 1024}) {
      for (const bool is_resident : {true, false}) all.push_back({unroll, threads, is_resident});
    }
  }
  return all;
}

TEST_F(MemoryLoops, FillWritesRandomNormalNumbers) {
  const std::vector<std::uint32_t> words = Filled(7).words();
  for (std::size_t i = 0; i < kWords; ++i) {
    ASSERT_EQ(words[i], filled_word(i, 7));
    ASSERT_EQ(words[i] & 0x60000000U, 0x20000000U);
  }
}

TEST_F(MemoryLoops, EveryFormOfTheReadLoopReadsEveryWordOnce) {
  const Filled a(1);
  const std::uint32_t expected = combined(a.words());
  for (const LoopForm& form : forms()) {
    SCOPED_TRACE(::testing::Message() << form.unroll << " x " << form.threads);
    const auto sums = checksums_of([&](std::uint32_t* checksums) {
      return launch_memory_loop(
          {MemoryLoop::Read, a.get(), nullptr, nullptr, kBytes, checksums, form}, nullptr);
    });
    EXPECT_EQ(combined(sums), expected);
  }
}

TEST_F(MemoryLoops, EveryVariantOfTheReadLoopReadsEveryWordOnce) {
  const Filled a(1);
  const std::uint32_t expected = combined(a.words());
  for (LoopForm form : forms()) {
    for (const int variant : {1, 2, 3}) {
      form.is_plain = (variant & 1) != 0;
      form.is_chunked = (variant & 2) != 0;
      form.most_blocks_per_sm = variant - 1;
      SCOPED_TRACE(::testing::Message() << form.unroll << " x " << form.threads << ", " << variant);
      const auto sums = checksums_of([&](std::uint32_t* checksums) {
        return launch_memory_loop(
            {MemoryLoop::Read, a.get(), nullptr, nullptr, kBytes, checksums, form}, nullptr);
      });
      EXPECT_EQ(combined(sums), expected);
    }
  }
}

TEST_F(MemoryLoops, EveryFormOfTheOthersWritesEveryWord) {
  const Filled a(1);
  const Filled b(2);
  const std::vector<std::uint32_t> of_a = a.words();
  const std::vector<std::uint32_t> of_b = b.words();
  for (const LoopForm& form : forms()) {
    SCOPED_TRACE(::testing::Message() << form.unroll << " x " << form.threads);
    const Filled to(3);
    MemoryWork work{MemoryLoop::Copy, a.get(), b.get(), to.get(), kBytes, nullptr, form};
    ASSERT_EQ(launch_memory_loop(work, nullptr), cudaSuccess);
    EXPECT_EQ(to.words(), of_a);
    work.loop = MemoryLoop::Triad;
    ASSERT_EQ(launch_memory_loop(work, nullptr), cudaSuccess);
    const std::vector<std::uint32_t> sums = to.words();
    for (std::size_t i = 0; i < kWords; ++i) {
      float x = 0;
      float y = 0;
      float z = 0;
      std::memcpy(&x, &of_a[i], sizeof x);
      std::memcpy(&y, &of_b[i], sizeof y);
      std::memcpy(&z, &sums[i], sizeof z);
      ASSERT_EQ(z, __builtin_fmaf(3.0F, y, x));
    }
    work.loop = MemoryLoop::Write;
    ASSERT_EQ(launch_memory_loop(work, nullptr), cudaSuccess);
    const std::vector<std::uint32_t> written = to.words();
    for (std::size_t i = 0; i < kWords; i += 4) {
      const std::uint32_t word = static_cast<std::uint32_t>(i / 4) * 0x9e3779b1U;
      ASSERT_EQ(written[i], word);
      ASSERT_EQ(written[i + 1], ~word);
    }
  }
}

TEST_F(MemoryLoops, AnOddNumberOfCachePassesLeavesTheChecksumOfOne) {
  const Filled a(1);
  for (const int threads : {256, 512, 1024}) {
    const auto sums = checksums_of([&](std::uint32_t* checksums) {
      return launch_cache_loop({a.get(), kBytes, 5, checksums, threads}, nullptr);
    });
    EXPECT_EQ(combined(sums), combined(a.words())) << threads;
  }
}

TEST_F(MemoryLoops, SharedMemoryIsReadAsOftenAsAsked) {
  std::size_t bytes = 0;
  const auto sums = [&](unsigned iterations) {
    return checksums_of([&](std::uint32_t* checksums) {
      return launch_shared_loop({iterations, checksums}, bytes, nullptr);
    });
  };
  const auto once = sums(1);
  const std::size_t bytes_once = bytes;
  EXPECT_NE(once[0], 0U);
  EXPECT_EQ(sums(3), once);  // each block's words an odd number of times
  EXPECT_EQ(bytes, 3 * bytes_once);
  EXPECT_EQ(sums(2), std::vector<std::uint32_t>(kChecksums, 0));
}

TEST_F(MemoryLoops, SizesThatAreNoMultipleAreRefused) {
  EXPECT_EQ(launch_memory_loop({MemoryLoop::Read, nullptr, nullptr, nullptr, kLoopBytes + 16}, {}),
            cudaErrorInvalidValue);
  EXPECT_EQ(launch_cache_loop({nullptr, 16}, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace profline::workload::ceilings
