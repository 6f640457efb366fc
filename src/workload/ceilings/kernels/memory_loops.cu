#include "workload/ceilings/kernels/memory_loops.h"

namespace profline::workload::ceilings {
namespace {

constexpr float kTriadFactor = 3.0F;
constexpr int kVectorBytes = sizeof(uint4);

__host__ __device__ inline std::uint32_t hash(std::uint32_t x) {
  x ^= x >> 16U;
  x *= 0x7feb352dU;
  x ^= x >> 15U;
  x *= 0x846ca68bU;
  x ^= x >> 16U;
  return x;
}

__host__ __device__ inline std::uint32_t word_at(std::uint64_t index, std::uint32_t seed) {
  const auto low = static_cast<std::uint32_t>(index);
  const auto high = static_cast<std::uint32_t>(index >> 32U);
  // The exponent's two upper bits are 01, so the value is neither 0, denormal, infinite nor NaN.
  return (hash(low ^ hash(high + seed)) & 0x9fffffffU) | 0x20000000U;
}

/// A load that the caches need not keep.
__device__ inline uint4 load_once(const uint4* from) {
  uint4 got;
#if __CUDA_ARCH__ >= 800
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(got.x), "=r"(got.y), "=r"(got.z), "=r"(got.w)
               : "l"(from));
#else
  got = __ldcs(from);
#endif
  return got;
}

/// A load from the L2 cache that the compiler neither moves nor merges with another one.
__device__ inline uint4 load_from_l2(const uint4* from) {
  uint4 got;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(got.x), "=r"(got.y), "=r"(got.z), "=r"(got.w)
               : "l"(from));
  return got;
}

__device__ inline uint4 load_shared(std::uint32_t address) {
  uint4 got;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(got.x), "=r"(got.y), "=r"(got.z), "=r"(got.w)
               : "r"(address));
  return got;
}

__device__ inline void combine(uint4& sum, const uint4& more) {
  sum.x ^= more.x;
  sum.y ^= more.y;
  sum.z ^= more.z;
  sum.w ^= more.w;
}

/// One atomic operation per block; all threads of the block call it once.
__device__ inline void add_to_checksum(const uint4& sum, std::uint32_t* checksums) {
  __shared__ std::uint32_t of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  std::uint32_t word = sum.x ^ sum.y ^ sum.z ^ sum.w;
  for (int distance = 16; distance > 0; distance /= 2) {
    word ^= __shfl_xor_sync(0xffffffffU, word, distance);
  }
  if (threadIdx.x % 32 == 0) atomicXor(&of_block, word);
  __syncthreads();
  if (threadIdx.x == 0) atomicXor(checksums + blockIdx.x % kChecksums, of_block);
}

/// The tiles of a block: `kUnroll` vectors per thread each.
template <int kUnroll, typename Body>
__device__ inline void for_each_tile(std::size_t vectors, const Body& body) {
  const std::size_t tile = static_cast<std::size_t>(blockDim.x) * kUnroll;
  const std::size_t stride = tile * gridDim.x;
  for (std::size_t at = tile * blockIdx.x + threadIdx.x; at < vectors; at += stride) body(at);
}

/// The same tiles, of which each block has some that follow each other.
template <int kUnroll, typename Body>
__device__ inline void for_each_tile_of_chunk(std::size_t vectors, const Body& body) {
  const std::size_t tile = static_cast<std::size_t>(blockDim.x) * kUnroll;
  const std::size_t tiles = vectors / tile;
  const std::size_t end = tiles * (blockIdx.x + 1) / gridDim.x;
  for (std::size_t i = tiles * blockIdx.x / gridDim.x; i < end; ++i) body(i * tile + threadIdx.x);
}

template <int kUnroll, bool kPlain, bool kChunked>
__global__ void read_loop(const uint4* from, std::size_t vectors, std::uint32_t* checksums) {
  uint4 sum = make_uint4(0, 0, 0, 0);
  const auto read_tile = [&](std::size_t at) {
    uint4 got[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const uint4* const place = from + at + static_cast<std::size_t>(i) * blockDim.x;
      got[i] = kPlain ? *place : load_once(place);
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) combine(sum, got[i]);
  };
  if constexpr (kChunked) {
    for_each_tile_of_chunk<kUnroll>(vectors, read_tile);
  } else {
    for_each_tile<kUnroll>(vectors, read_tile);
  }
  add_to_checksum(sum, checksums);
}

template <int kUnroll>
__global__ void write_loop(uint4* to, std::size_t vectors) {
  for_each_tile<kUnroll>(vectors, [&](std::size_t at) {
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const std::size_t place = at + static_cast<std::size_t>(i) * blockDim.x;
      const auto word = static_cast<std::uint32_t>(place) * 0x9e3779b1U;
      __stcs(to + place, make_uint4(word, ~word, word * 5U, word * 9U));
    }
  });
}

template <int kUnroll>
__global__ void copy_loop(const uint4* from, uint4* to, std::size_t vectors) {
  for_each_tile<kUnroll>(vectors, [&](std::size_t at) {
    uint4 got[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      got[i] = load_once(from + at + static_cast<std::size_t>(i) * blockDim.x);
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      __stcs(to + at + static_cast<std::size_t>(i) * blockDim.x, got[i]);
    }
  });
}

__device__ inline std::uint32_t triad(std::uint32_t a, std::uint32_t b) {
  return __float_as_uint(fmaf(kTriadFactor, __uint_as_float(b), __uint_as_float(a)));
}

template <int kUnroll>
__global__ void triad_loop(const uint4* a, const uint4* b, uint4* to, std::size_t vectors) {
  for_each_tile<kUnroll>(vectors, [&](std::size_t at) {
    uint4 from_a[kUnroll];
    uint4 from_b[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const std::size_t place = at + static_cast<std::size_t>(i) * blockDim.x;
      from_a[i] = load_once(a + place);
      from_b[i] = load_once(b + place);
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const uint4 x = from_a[i];
      const uint4 y = from_b[i];
      __stcs(to + at + static_cast<std::size_t>(i) * blockDim.x,
             make_uint4(triad(x.x, y.x), triad(x.y, y.y), triad(x.z, y.z), triad(x.w, y.w)));
    }
  });
}

__global__ void fill(std::uint32_t* to, std::size_t words, std::uint32_t seed) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words;
       i += stride) {
    to[i] = word_at(i, seed);
  }
}

constexpr int kCacheUnroll = 4;

/// The tiles of all passes in one sequence, so that every block has the same number of them, and a
/// block has other tiles in each pass.
__global__ void cache_loop(const uint4* from, unsigned tiles, std::uint64_t all_tiles,
                           std::uint32_t* checksums) {
  uint4 sum = make_uint4(0, 0, 0, 0);
  const unsigned step = gridDim.x % tiles;
  unsigned tile = blockIdx.x % tiles;
  for (std::uint64_t i = blockIdx.x; i < all_tiles; i += gridDim.x) {
    const uint4* at =
        from + static_cast<std::size_t>(tile) * blockDim.x * kCacheUnroll + threadIdx.x;
    uint4 got[kCacheUnroll];
#pragma unroll
    for (int k = 0; k < kCacheUnroll; ++k) got[k] = load_from_l2(at + k * blockDim.x);
#pragma unroll
    for (int k = 0; k < kCacheUnroll; ++k) combine(sum, got[k]);
    tile += step;
    if (tile >= tiles) tile -= tiles;
  }
  add_to_checksum(sum, checksums);
}

constexpr int kSharedThreads = 512;
constexpr int kSharedUnroll = 4;
constexpr int kSharedBlocksPerSm = 4;

__global__ void __launch_bounds__(kSharedThreads)
    shared_loop(unsigned iterations, std::uint32_t* checksums) {
  __shared__ uint4 buffer[kSharedThreads * kSharedUnroll];
  for (int i = 0; i < kSharedUnroll; ++i) {
    const unsigned index = i * kSharedThreads + threadIdx.x;
    buffer[index] =
        make_uint4(hash(4 * index), hash(4 * index + 1), hash(4 * index + 2), hash(4 * index + 3));
  }
  __syncthreads();
  const auto start = static_cast<std::uint32_t>(__cvta_generic_to_shared(buffer + threadIdx.x));
  uint4 sums[2] = {};
  for (unsigned i = 0; i < iterations; ++i) {
    uint4 got[kSharedUnroll];
#pragma unroll
    for (int k = 0; k < kSharedUnroll; ++k) {
      got[k] = load_shared(start + k * kSharedThreads * kVectorBytes);
    }
#pragma unroll
    for (int k = 0; k < kSharedUnroll; ++k) combine(sums[k % 2], got[k]);
  }
  combine(sums[0], sums[1]);
  add_to_checksum(sums[0], checksums);
}

__global__ void nothing() {}

struct Grid {
  unsigned blocks = 0;
  cudaError_t status = cudaSuccess;
};

cudaError_t multiprocessors(int& count) {
  int device = 0;
  const cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
}

/// As many blocks as fit on the device, at most `most`, and so many per multiprocessor (0: any).
template <typename Kernel>
Grid resident_grid(Kernel kernel, int threads, std::size_t most, int most_per_sm = 0) {
  int count = 0;
  int per_multiprocessor = 0;
  Grid grid;
  grid.status = multiprocessors(count);
  if (grid.status != cudaSuccess) return grid;
  grid.status =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads, 0);
  if (grid.status != cudaSuccess) return grid;
  if (most_per_sm > 0 && per_multiprocessor > most_per_sm) per_multiprocessor = most_per_sm;
  const auto fitting = static_cast<std::size_t>(count) * per_multiprocessor;
  grid.blocks = static_cast<unsigned>(fitting < most ? fitting : most);
  return grid;
}

template <typename Kernel, typename... Args>
cudaError_t launch_tiles(Kernel kernel, const MemoryWork& work, cudaStream_t stream, Args... args) {
  const std::size_t vectors = work.bytes / kVectorBytes;
  const std::size_t tiles = vectors / (static_cast<std::size_t>(work.form.threads) *
                                       static_cast<std::size_t>(work.form.unroll));
  Grid grid{static_cast<unsigned>(tiles), cudaSuccess};
  if (work.form.is_resident) {
    grid = resident_grid(kernel, work.form.threads, tiles, work.form.most_blocks_per_sm);
  }
  if (grid.status != cudaSuccess) return grid.status;
  kernel<<<grid.blocks, work.form.threads, 0, stream>>>(args...);
  return cudaGetLastError();
}

template <int kUnroll>
cudaError_t launch_read(const MemoryWork& work, cudaStream_t stream) {
  const std::size_t vectors = work.bytes / kVectorBytes;
  const auto* a = static_cast<const uint4*>(work.a);
  const auto launch = [&](auto kernel) {
    return launch_tiles(kernel, work, stream, a, vectors, work.checksums);
  };
  if (work.form.is_plain) {
    return work.form.is_chunked ? launch(read_loop<kUnroll, true, true>)
                                : launch(read_loop<kUnroll, true, false>);
  }
  return work.form.is_chunked ? launch(read_loop<kUnroll, false, true>)
                              : launch(read_loop<kUnroll, false, false>);
}

template <int kUnroll>
cudaError_t launch_unrolled(const MemoryWork& work, cudaStream_t stream) {
  const std::size_t vectors = work.bytes / kVectorBytes;
  const auto* a = static_cast<const uint4*>(work.a);
  const auto* b = static_cast<const uint4*>(work.b);
  auto* to = static_cast<uint4*>(work.to);
  switch (work.loop) {
    case MemoryLoop::Read:
      return launch_read<kUnroll>(work, stream);
    case MemoryLoop::Write:
      return launch_tiles(write_loop<kUnroll>, work, stream, to, vectors);
    case MemoryLoop::Copy:
      return launch_tiles(copy_loop<kUnroll>, work, stream, a, to, vectors);
    case MemoryLoop::Triad:
      return launch_tiles(triad_loop<kUnroll>, work, stream, a, b, to, vectors);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t launch_memory_loop(const MemoryWork& work, cudaStream_t stream) {
  if (work.bytes == 0 || work.bytes % kLoopBytes != 0) return cudaErrorInvalidValue;
  if (work.form.unroll == 4) return launch_unrolled<4>(work, stream);
  if (work.form.unroll == 8) return launch_unrolled<8>(work, stream);
  if (work.form.unroll == 16) return launch_unrolled<16>(work, stream);
  return cudaErrorInvalidValue;
}

std::size_t moved_bytes(const MemoryWork& work) {
  switch (work.loop) {
    case MemoryLoop::Read:
    case MemoryLoop::Write:
      return work.bytes;
    case MemoryLoop::Copy:
      return 2 * work.bytes;
    case MemoryLoop::Triad:
      break;
  }
  return 3 * work.bytes;
}

cudaError_t launch_fill(void* to, std::size_t bytes, std::uint32_t seed, cudaStream_t stream) {
  constexpr int kThreads = 512;
  const std::size_t words = bytes / sizeof(std::uint32_t);
  const Grid grid = resident_grid(fill, kThreads, (words + kThreads - 1) / kThreads);
  if (grid.status != cudaSuccess) return grid.status;
  fill<<<grid.blocks, kThreads, 0, stream>>>(static_cast<std::uint32_t*>(to), words, seed);
  return cudaGetLastError();
}

std::uint32_t filled_word(std::size_t index, std::uint32_t seed) {
  return word_at(index, seed);
}

cudaError_t launch_cache_loop(const CacheWork& work, cudaStream_t stream) {
  if (work.bytes == 0 || work.bytes % kLoopBytes != 0) return cudaErrorInvalidValue;
  const std::size_t tiles =
      work.bytes / (static_cast<std::size_t>(work.threads) * kCacheUnroll * kVectorBytes);
  const std::uint64_t all_tiles = static_cast<std::uint64_t>(tiles) * work.passes;
  const Grid grid = resident_grid(cache_loop, work.threads, all_tiles);
  if (grid.status != cudaSuccess) return grid.status;
  cache_loop<<<grid.blocks, work.threads, 0, stream>>>(static_cast<const uint4*>(work.from),
                                                       static_cast<unsigned>(tiles), all_tiles,
                                                       work.checksums);
  return cudaGetLastError();
}

cudaError_t launch_shared_loop(const SharedWork& work, std::size_t& bytes, cudaStream_t stream) {
  int count = 0;
  const cudaError_t status = multiprocessors(count);
  if (status != cudaSuccess) return status;
  const unsigned blocks = static_cast<unsigned>(count) * kSharedBlocksPerSm;
  bytes = static_cast<std::size_t>(blocks) * kSharedThreads * kSharedUnroll * kVectorBytes *
          work.iterations;
  shared_loop<<<blocks, kSharedThreads, 0, stream>>>(work.iterations, work.checksums);
  return cudaGetLastError();
}

cudaError_t launch_nothing(cudaStream_t stream) {
  nothing<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}

}  // namespace profline::workload::ceilings
