#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

// Loops that move as many bytes per second as a device can. They are written for one purpose, so
// nothing in them waits: loads of 16 bytes, several of them in flight per thread, and every loaded
// value ends up in a checksum, so that no load can be left out.

namespace profline::workload::ceilings {

/// What a loop does with device memory.
enum class MemoryLoop {
  Read,   ///< a
  Write,  ///< to
  Copy,   ///< to = a
  Triad,  ///< to = a + 3 b
};

/// Arrays and checksums are read in units of this size; sizes are multiples of it.
inline constexpr std::size_t kLoopBytes = std::size_t{256} << 10U;
/// Each block adds to one of so many checksums, by its number.
inline constexpr unsigned kChecksums = 1024;

/// How a loop is spread over the device.
struct LoopForm {
  int unroll = 8;     ///< loads in flight per thread: 4, 8 or 16
  int threads = 256;  ///< per block, a power of two from 128 to 1024
  bool is_resident =
      true;  ///< as many blocks as fit, each with many tiles; else one tile per block
  // Only of Read.
  bool is_plain = false;       ///< ordinary loads, instead of ones that the caches need not keep
  bool is_chunked = false;     ///< each block reads one contiguous part, instead of every n-th tile
  int most_blocks_per_sm = 0;  ///< if resident; 0: as many as fit
};

struct MemoryWork {
  MemoryLoop loop = MemoryLoop::Read;
  const void* a = nullptr;
  const void* b = nullptr;  ///< only for Triad
  void* to = nullptr;
  std::size_t bytes = 0;               ///< of one array
  std::uint32_t* checksums = nullptr;  ///< [kChecksums]: XORed with the words that were read
  LoopForm form{};
};
cudaError_t launch_memory_loop(const MemoryWork& work, cudaStream_t stream);

/// How many bytes the loop moves: a copy reads and writes its array once each.
std::size_t moved_bytes(const MemoryWork& work);

/// Fills an array with pseudo-random fp32: every bit of sign and mantissa and six of the exponent
/// are random, and all values are finite and normal.
cudaError_t launch_fill(void* to, std::size_t bytes, std::uint32_t seed, cudaStream_t stream);
/// The word that launch_fill() writes at an index.
std::uint32_t filled_word(std::size_t index, std::uint32_t seed);

/// Reads an array that fits into the L2 cache `passes` times, past the L1 caches. An odd number of
/// passes leaves the checksum of one.
struct CacheWork {
  const void* from = nullptr;
  std::size_t bytes = 0;
  unsigned passes = 1;
  std::uint32_t* checksums = nullptr;
  int threads = 256;
};
cudaError_t launch_cache_loop(const CacheWork& work, cudaStream_t stream);

/// Reads shared memory: each thread of each block `iterations` times its words of a buffer that
/// holds hashes of their indices.
struct SharedWork {
  unsigned iterations = 1;
  std::uint32_t* checksums = nullptr;
};
/// The bytes that are read are stored in `bytes`.
cudaError_t launch_shared_loop(const SharedWork& work, std::size_t& bytes, cudaStream_t stream);

/// A kernel that does nothing, to measure what launching one costs.
cudaError_t launch_nothing(cudaStream_t stream);

}  // namespace profline::workload::ceilings
