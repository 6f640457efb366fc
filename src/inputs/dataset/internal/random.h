#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profline::dataset::internal {

/// SplitMix64: the same numbers for the same seed with every machine and library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  /// One of 0 to `bound` - 1, all equally likely: draws again where some would be favoured.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t uneven = (0 - bound) % bound;  // 2^64 mod bound
    while (true) {
      const std::uint64_t drawn = next();
      if (drawn >= uneven) return drawn % bound;
    }
  }

  /// One of `least` to `most`.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least) + 1));
  }

  template <typename T, std::size_t size>
  const T& pick(const T (&items)[size]) {
    return items[below(size)];
  }

 private:
  std::uint64_t state_;
};

}  // namespace profline::dataset::internal
