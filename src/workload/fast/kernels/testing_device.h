#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "workload/fast/kernels/decode_model.h"

namespace profline::workload::fast {

/// Otherwise GoogleTest would print the bytes.
inline std::ostream& operator<<(std::ostream& out, Stored stored) {
  return out << (stored == Stored::Bf16 ? "Bf16" : "Fp32");
}

}  // namespace profline::workload::fast

namespace profline::workload::fast::testing {

/// Device memory with a copy of `values`, or of `count` times 0xff: NaN, or an unexpected number.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : OnDevice(values.size()) {
    EXPECT_EQ(cudaMemcpy(start_, values.data(), bytes(), cudaMemcpyHostToDevice), cudaSuccess);
  }
  explicit OnDevice(std::size_t count) : count_(count) {
    EXPECT_EQ(cudaMalloc(&start_, bytes()), cudaSuccess);
    EXPECT_EQ(cudaMemset(start_, 0xff, bytes()), cudaSuccess);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cudaFree(start_); }

  T* get() { return static_cast<T*>(start_); }
  /// Waits for all previous kernels.
  std::vector<T> values() const {
    std::vector<T> copy(count_);
    EXPECT_EQ(cudaMemcpy(copy.data(), start_, bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
    return copy;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }

  std::size_t count_;
  void* start_ = nullptr;
};

inline std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}
inline float from_bf16(std::uint16_t half) {
  const std::uint32_t bits = std::uint32_t{half} << 16U;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Numbers in the model's storage type; the host sees them as fp32.
class StoredOnDevice {
 public:
  StoredOnDevice(const std::vector<float>& values, Stored stored)
      : StoredOnDevice(values.size(), stored) {
    std::vector<std::uint16_t> halves(values.size());
    std::transform(values.begin(), values.end(), halves.begin(), to_bf16);
    const bool is_bf16 = stored == Stored::Bf16;
    const void* from = is_bf16 ? static_cast<const void*>(halves.data()) : values.data();
    const std::size_t bytes = values.size() * (is_bf16 ? sizeof(std::uint16_t) : sizeof(float));
    EXPECT_EQ(cudaMemcpy(bytes_.get(), from, bytes, cudaMemcpyHostToDevice), cudaSuccess);
  }
  StoredOnDevice(std::size_t count, Stored stored)
      : bytes_(count * (stored == Stored::Bf16 ? 2 : 4)), count_(count), stored_(stored) {}

  void* get() { return bytes_.get(); }
  std::vector<float> values() const {
    const std::vector<std::uint8_t> bytes = bytes_.values();
    std::vector<float> all(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      if (stored_ == Stored::Bf16) {
        std::uint16_t half = 0;
        std::memcpy(&half, bytes.data() + 2 * i, 2);
        all[i] = from_bf16(half);
      } else {
        std::memcpy(&all[i], bytes.data() + 4 * i, 4);
      }
    }
    return all;
  }

 private:
  OnDevice<std::uint8_t> bytes_;
  std::size_t count_;
  Stored stored_;
};

/// Tests of kernels with both storage types; skipped without a GPU.
class KernelTest : public ::testing::TestWithParam<Stored> {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
      GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(status);
    }
  }
  /// Uniform in [−1, 1], rounded to the storage type.
  std::vector<float> random(std::size_t count) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values(count);
    for (float& value : values) value = kept(uniform(generator_));
    return values;
  }
  static float kept(float value) {
    return GetParam() == Stored::Bf16 ? from_bf16(to_bf16(value)) : value;
  }
  /// The maximum error of rounding once.
  static float tolerance(float value) {
    const float unit = GetParam() == Stored::Bf16 ? 0x1p-8F : 0x1p-20F;
    return unit * std::max(1.0F, std::abs(value));
  }
  static void expect_near(const std::vector<float>& computed, const std::vector<float>& expected) {
    ASSERT_EQ(computed.size(), expected.size());
    for (std::size_t i = 0; i < computed.size(); ++i) {
      ASSERT_NEAR(computed[i], expected[i], tolerance(expected[i])) << "element " << i;
    }
  }

  std::mt19937 generator_{7};
};

inline std::string stored_name(const ::testing::TestParamInfo<Stored>& info) {
  std::ostringstream name;
  name << info.param;
  return name.str();
}

}  // namespace profline::workload::fast::testing
