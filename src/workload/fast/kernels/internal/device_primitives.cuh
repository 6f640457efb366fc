#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <type_traits>

#include "workload/fast/kernels/decode_model.h"

// The building blocks of all kernels of the decode step.

namespace profline::workload::fast {

constexpr int kWarpLanes = 32;
constexpr int kWarps = 8;
constexpr int kThreads = kWarps * kWarpLanes;
/// The number of our blocks that fit on a multiprocessor at once, registers included: the next
/// kernels can prefetch their weights while the first still runs.
constexpr int kBlocksPerSm = 3;
constexpr unsigned kAllLanes = 0xffffffffU;

/// Sixteen bytes of weights, the widest load.
using Word = uint4;
template <typename T>
constexpr int kPerWord = static_cast<int>(sizeof(Word) / sizeof(T));

__device__ inline void unpack(const Word& word, float (&values)[kPerWord<float>]) {
  values[0] = __uint_as_float(word.x);
  values[1] = __uint_as_float(word.y);
  values[2] = __uint_as_float(word.z);
  values[3] = __uint_as_float(word.w);
}

/// bf16 is the upper half of an fp32: a shift and a mask turn one register into two values.
__device__ inline void unpack(const Word& word, float (&values)[kPerWord<__nv_bfloat16>]) {
  const unsigned parts[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    values[2 * i] = __uint_as_float(parts[i] << 16U);
    values[2 * i + 1] = __uint_as_float(parts[i] & 0xffff0000U);
  }
}

__device__ inline float widen(float value) {
  return value;
}
__device__ inline float widen(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
__device__ inline void store(float* to, float value) {
  *to = value;
}
__device__ inline void store(__nv_bfloat16* to, float value) {
  *to = __float2bfloat16_rn(value);
}

// Programmatic dependent launch: a kernel starts while the previous one still runs, does what does
// not depend on it (prefetching weights), and waits here for all its results.
__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// One or two instructions each, accurate except for the last bits, which is enough for a softmax, a
// gate or the factor of a norm. Accurate versions are long, and everything would wait for them.
__device__ inline float quick_exp2(float value) {
  float result = 0;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
__device__ inline float quick_exp(float value) {
  return __expf(value);
}
/// 0 if the divisor is above 2^126.
__device__ inline float quick_divide(float dividend, float divisor) {
  return __fdividef(dividend, divisor);
}

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, step);
  }
  return value;
}

/// Copies sixteen bytes from global to shared memory asynchronously.
__device__ inline void copy_async(Word* to, const Word* from) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}
__device__ inline void end_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kPending>
__device__ inline void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// The number of words in a row of `columns` elements, and how many of them a lane takes.
template <typename T>
__host__ __device__ constexpr int words_of(int columns) {
  return columns / kPerWord<T>;
}
constexpr __host__ __device__ int chunks_of(int words) {
  return (words + kWarpLanes - 1) / kWarpLanes;
}

/// A warp's stream of weight rows, two at a time: `kAhead` pairs are in flight to shared memory
/// while one is multiplied. Each lane reads back only what it copied itself, so no barrier is
/// needed, and two rows at once give a warp enough work while it waits for itself.
///
/// kChunks: the number of words that a lane takes of a row, all but the last in every lane; 0 if
/// known only at run time.
template <typename T, int kChunks, int kAhead>
class PairStream {
 public:
  __device__ PairStream(Word* slots, int words)
      : slots_(slots + threadIdx.x % kWarpLanes),
        lane_(static_cast<int>(threadIdx.x % kWarpLanes)),
        words_(words) {
    // Nothing is ever copied past the end of a row: it must be zero, or 0 · NaN could be read
    // there.
    if (has(chunks() - 1)) return;
    for (int i = 0; i < 2 * kAhead; ++i) {
      slots_[(i * chunks() + chunks() - 1) * kWarpLanes] = Word{0, 0, 0, 0};
    }
  }

  /// Shared memory of one warp.
  static __host__ __device__ constexpr int words_needed(int words) {
    return 2 * kAhead * chunks_of(words) * kWarpLanes;
  }

  /// The `index`-th pair of the stream, in order; null past the end.
  __device__ void issue(int index, const T* first, const T* second) {
    if (first != nullptr) {
      Word* slot = slots_ + (index % kAhead) * 2 * chunks() * kWarpLanes;
      copy_row(slot, first);
      copy_row(slot + chunks() * kWarpLanes, second);
    }
    end_group();
  }

  /// This lane's share of both rows' products with x; kAhead pairs must have been issued from
  /// `index` on.
  template <typename X>
  __device__ float2 dot(int index, const X& x) {
    wait_for_groups<kAhead - 1>();
    const Word* slot = slots_ + (index % kAhead) * 2 * chunks() * kWarpLanes;
    float2 sum = {0, 0};
#pragma unroll
    for (int c = 0; c < chunks(); ++c) {
      float first[kPerWord<T>];
      float second[kPerWord<T>];
      unpack(slot[c * kWarpLanes], first);
      unpack(slot[(chunks() + c) * kWarpLanes], second);
      float factors[kPerWord<T>];
      x.load(c, lane_, factors);
#pragma unroll
      for (int i = 0; i < kPerWord<T>; ++i) {
        sum.x = fmaf(first[i], factors[i], sum.x);
        sum.y = fmaf(second[i], factors[i], sum.y);
      }
    }
    return sum;
  }

 private:
  __device__ int chunks() const {
    return kChunks > 0 ? kChunks : chunks_of(words_);
  }
  /// Whether a row has a word for this lane in the chunk.
  __device__ bool has(int chunk) const {
    return chunk < chunks() - 1 || chunk * kWarpLanes + lane_ < words_;
  }
  __device__ void copy_row(Word* slot, const T* row) const {
    const Word* from = reinterpret_cast<const Word*>(row) + lane_;
#pragma unroll
    for (int c = 0; c < chunks(); ++c) {
      if (has(c)) copy_async(slot + c * kWarpLanes, from + c * kWarpLanes);
    }
  }

  Word* slots_;
  int lane_;
  int words_;
};

/// The sums of both over the warp, in every lane, at little more than the cost of one.
__device__ inline float2 warp_sum(float2 pair) {
  const bool is_upper = (threadIdx.x & 16U) != 0;
  float mine = is_upper ? pair.y : pair.x;
  mine += __shfl_xor_sync(kAllLanes, is_upper ? pair.x : pair.y, 16);
#pragma unroll
  for (int step = 8; step > 0; step /= 2) mine += __shfl_xor_sync(kAllLanes, mine, step);
  return {__shfl_sync(kAllLanes, mine, 0), __shfl_sync(kAllLanes, mine, 16)};
}

/// Four elements as fp32, with one load.
__device__ inline float4 load_four(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}
__device__ inline float4 load_four(const __nv_bfloat16* from) {
  const uint2 word = *reinterpret_cast<const uint2*>(from);
  return {__uint_as_float(word.x << 16U), __uint_as_float(word.x & 0xffff0000U),
          __uint_as_float(word.y << 16U), __uint_as_float(word.y & 0xffff0000U)};
}

/// A vector in shared memory.
template <typename T>
struct SharedVector {
  const float* values;

  __device__ explicit SharedVector(const float* shared) : values(shared) {}

  /// The elements that correspond to a lane's word of a chunk.
  __device__ void load(int chunk, int lane, float (&part)[kPerWord<T>]) const {
#pragma unroll
    for (int i = 0; i < kPerWord<T>; i += 4) {
      const float4 four = load_four(values + (chunk * kWarpLanes + lane) * kPerWord<T> + i);
      part[i] = four.x;
      part[i + 1] = four.y;
      part[i + 2] = four.z;
      part[i + 3] = four.w;
    }
  }
};

/// A lane's part of a vector, in registers.
template <typename T, int kChunks>
struct Fragment {
  float values[kChunks][kPerWord<T>];

  /// From shared memory, padded.
  __device__ explicit Fragment(const float* shared)
      : Fragment(shared, kChunks * kWarpLanes * kPerWord<T>) {}
  /// From any memory with `columns` elements.
  __device__ Fragment(const float* from, int columns) {
    const int lane = static_cast<int>(threadIdx.x % kWarpLanes);
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
#pragma unroll
      for (int i = 0; i < kPerWord<T>; i += 4) {
        const int place = (c * kWarpLanes + lane) * kPerWord<T> + i;
        const float4 four = place < columns ? load_four(from + place) : float4{0, 0, 0, 0};
        values[c][i] = four.x;
        values[c][i + 1] = four.y;
        values[c][i + 2] = four.z;
        values[c][i + 3] = four.w;
      }
    }
  }
  __device__ void load(int chunk, int /*lane*/, float (&part)[kPerWord<T>]) const {
#pragma unroll
    for (int i = 0; i < kPerWord<T>; ++i) part[i] = values[chunk][i];
  }
};

/// Registers if the size is known, else shared memory.
template <typename T, int kChunks>
using Vector = std::conditional_t<(kChunks > 0), Fragment<T, kChunks>, SharedVector<T>>;

/// The number of elements that a vector of `columns` takes in shared memory, padded as `dot`
/// requires.
template <typename T>
__host__ __device__ constexpr int padded(int columns) {
  return chunks_of(words_of<T>(columns)) * kWarpLanes * kPerWord<T>;
}

/// A block holds a vector of the model's width as this many groups of four per thread.
constexpr int kWidthFours = 2;
constexpr int kMaxWidth = kThreads * 4 * kWidthFours;

/// A thread's part of a vector. Everything is loaded before anything is used: a loop that
/// alternates loads and stores would wait for memory in each iteration.
struct WidthPart {
  float4 fours[kWidthFours];

  static __device__ int place(int n) { return (n * kThreads + static_cast<int>(threadIdx.x)) * 4; }
  template <typename T>
  __device__ WidthPart(const T* from, int width) {
#pragma unroll
    for (int n = 0; n < kWidthFours; ++n) {
      fours[n] = place(n) < width ? load_four(from + place(n)) : float4{0, 0, 0, 0};
    }
  }
};

/// x ⊙ weight into shared memory (padded with zeros), and 1/√(mean(x²) + eps), the factor that
/// products with it still need. Synchronises the block; `sums` has room for kWarps.
template <typename T>
__device__ float weigh_and_scale(const WidthPart& x, const WidthPart& weight, int width, float eps,
                                 float* to, float* sums) {
  float squares = 0;
#pragma unroll
  for (int n = 0; n < kWidthFours; ++n) {
    const float4 v = x.fours[n];
    const float4 w = weight.fours[n];
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    if (WidthPart::place(n) < padded<T>(width)) {
      *reinterpret_cast<float4*>(to + WidthPart::place(n)) =
          float4{v.x * w.x, v.y * w.y, v.z * w.z, v.w * w.w};
    }
  }
  squares = warp_sum(squares);
  if (threadIdx.x % kWarpLanes == 0) sums[threadIdx.x / kWarpLanes] = squares;
  __syncthreads();
  float total = 0;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) total += sums[i];
  return rsqrtf(quick_divide(total, static_cast<float>(width)) + eps);
}

/// Launches a kernel into the stream; with `overlap` it may start before the previous one has
/// ended, and waits for that one itself.
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                   cudaStream_t stream, bool overlap, const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

template <typename Kernel>
cudaError_t allow_shared(Kernel kernel, std::size_t bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(bytes));
}

/// Returns from the function with the first failure.
#define PL_CUDA_TRY(expression)                     \
  do {                                              \
    const cudaError_t pl_status = (expression);     \
    if (pl_status != cudaSuccess) return pl_status; \
  } while (false)

}  // namespace profline::workload::fast
