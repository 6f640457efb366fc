#include "workload/ceilings/internal/cpu_loops.h"

// GCC compiles a loop for several generations of processors and chooses when the program starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define PL_FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PL_FOR_EACH_PROCESSOR
#endif

namespace profline::workload::ceilings {

PL_FOR_EACH_PROCESSOR
std::uint64_t read_words(const std::uint64_t* from, std::size_t count) {
  // Independent sums, so that a load never waits for the one before it.
  constexpr std::size_t kSums = 32;
  std::uint64_t sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) sums[k] ^= from[i + k];
  }
  std::uint64_t all = 0;
  for (; i < count; ++i) all ^= from[i];
  for (const std::uint64_t sum : sums) all ^= sum;
  return all;
}

PL_FOR_EACH_PROCESSOR
void triad(float* to, const float* a, const float* b, std::size_t count) {
  constexpr float kFactor = 3.0F;
  for (std::size_t i = 0; i < count; ++i) to[i] = a[i] + kFactor * b[i];
}

}  // namespace profline::workload::ceilings
