// Compiled with -O3: these loops are all that resizing a picture costs, and GCC's -O2 leaves most
// of them scalar.

#include "inputs/images/internal/weighing.h"

#include <algorithm>
#include <cstring>

namespace profline::images::internal {
namespace {

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

inline std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

/// The sums of so many columns stay in registers while the rows go by.
template <std::size_t columns>
__attribute__((always_inline)) inline void weigh_block(const std::uint8_t* source,
                                                       std::size_t stride,
                                                       const std::int32_t* weights,
                                                       std::size_t count, std::uint8_t* target) {
  std::int32_t sums[columns];
  for (std::int32_t& sum : sums) sum = kHalf;
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint8_t* const row = source + k * stride;
    const std::int32_t weight = weights[k];
    for (std::size_t i = 0; i < columns; ++i) sums[i] += row[i] * weight;
  }
  for (std::size_t i = 0; i < columns; ++i) target[i] = to_byte(sums[i]);
}

__attribute__((always_inline)) inline void weigh_all(const std::uint8_t* source, std::size_t stride,
                                                     const std::int32_t* weights, std::size_t count,
                                                     std::uint8_t* target, std::size_t width) {
  constexpr std::size_t kMany = 48;  // what the horizontal pass asks for
  constexpr std::size_t kFew = 8;
  std::size_t column = 0;
  for (; column + kMany <= width; column += kMany) {
    weigh_block<kMany>(source + column, stride, weights, count, target + column);
  }
  for (; column + kFew <= width; column += kFew) {
    weigh_block<kFew>(source + column, stride, weights, count, target + column);
  }
  weigh_rows_plainly(source + column, stride, weights, count, target + column, width - column);
}

using Bytes = std::uint8_t __attribute__((vector_size(kBlockSide)));

Bytes interleaved_low(Bytes a, Bytes b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

Bytes interleaved_high(Bytes a, Bytes b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}

using Weigh = void (*)(const std::uint8_t*, std::size_t, const std::int32_t*, std::size_t,
                       std::uint8_t*, std::size_t);

void weigh_with_any(const std::uint8_t* source, std::size_t stride, const std::int32_t* weights,
                    std::size_t count, std::uint8_t* target, std::size_t width) {
  weigh_all(source, stride, weights, count, target, width);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void weigh_with_avx2(const std::uint8_t* source, std::size_t stride,
                                                     const std::int32_t* weights, std::size_t count,
                                                     std::uint8_t* target, std::size_t width) {
  weigh_all(source, stride, weights, count, target, width);
}
#endif

Weigh best_weigh() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) return weigh_with_avx2;
#endif
  return weigh_with_any;
}

}  // namespace

void weigh_rows(const std::uint8_t* source, std::size_t stride, const std::int32_t* weights,
                std::size_t count, std::uint8_t* target, std::size_t width) {
  static const Weigh best = best_weigh();
  best(source, stride, weights, count, target, width);
}

void weigh_rows_plainly(const std::uint8_t* source, std::size_t stride, const std::int32_t* weights,
                        std::size_t count, std::uint8_t* target, std::size_t width) {
  for (std::size_t column = 0; column < width; ++column) {
    std::int32_t sum = kHalf;
    for (std::size_t k = 0; k < count; ++k) sum += source[k * stride + column] * weights[k];
    target[column] = to_byte(sum);
  }
}

void transpose_block(const std::uint8_t* source, std::size_t source_stride, std::uint8_t* target,
                     std::size_t target_stride) {
  Bytes rows[kBlockSide];
  for (std::size_t i = 0; i < kBlockSide; ++i) {
    std::memcpy(&rows[i], source + i * source_stride, sizeof rows[i]);
  }
  // Interleaving row i with row i + 8 rotates the bits of each byte's place by one: (row, column)
  // is exchanged after four times.
  for (int round = 0; round < 4; ++round) {
    Bytes next[kBlockSide];
    for (std::size_t i = 0; i < kBlockSide / 2; ++i) {
      next[2 * i] = interleaved_low(rows[i], rows[i + kBlockSide / 2]);
      next[2 * i + 1] = interleaved_high(rows[i], rows[i + kBlockSide / 2]);
    }
    std::copy(std::begin(next), std::end(next), std::begin(rows));
  }
  for (std::size_t i = 0; i < kBlockSide; ++i) {
    std::memcpy(target + i * target_stride, &rows[i], sizeof rows[i]);
  }
}

}  // namespace profline::images::internal
