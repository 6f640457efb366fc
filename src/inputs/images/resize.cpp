// Compiled with -ffp-contract=off: a fused multiply-add would round a weight differently than
// Pillow does. And with -O3: resizing spends all its time in the loops of weigh_rows(), and GCC's
// -O2 leaves most of them scalar.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "inputs/images/internal/parts.h"
#include "inputs/images/picture.h"

namespace profline::images {
namespace internal {
namespace {

/// Keys' cubic with a = -1/2, in the form that rounds like Pillow's weights.
double cubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

std::int32_t quantised(double weight) {
  constexpr double kOne = 1 << kWeightBits;
  return static_cast<std::int32_t>(weight < 0 ? -0.5 + weight * kOne : 0.5 + weight * kOne);
}

}  // namespace

Axis bicubic_axis(std::uint32_t from, std::uint32_t to) {
  const double scale = static_cast<double>(from) / to;
  const double filter_scale = std::max(scale, 1.0);
  const double support = 2.0 * filter_scale;
  const double step = 1.0 / filter_scale;
  Axis axis;
  axis.windows.reserve(to);
  std::vector<double> exact;
  for (std::uint32_t i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * scale;
    const double begin = centre - support + 0.5;
    const double stop = centre + support + 0.5;
    const auto first = begin < 0 ? 0U : static_cast<std::uint32_t>(begin);
    const auto end = std::min(from, static_cast<std::uint32_t>(stop));
    double sum = 0;
    exact.clear();
    for (std::uint32_t x = first; x < end; ++x) {
      exact.push_back(cubic((x - centre + 0.5) * step));
      sum += exact.back();
    }
    axis.windows.push_back({.first = first, .count = end - first, .weights = axis.weights.size()});
    for (const double weight : exact) {
      axis.weights.push_back(quantised(sum != 0.0 ? weight / sum : weight));
    }
  }
  return axis;
}

}  // namespace internal

namespace {

using internal::Axis;
using internal::Window;

constexpr std::size_t kSide = internal::kBlockSide;
/// Bytes of one column of pixels in a strip of kSide rows.
constexpr std::size_t kColumnBytes = kSide * Picture::kChannels;

/// kSide rows of an image transposed: one byte column after the other, so that horizontal
/// neighbours are summed like rows.
class Strip {
 public:
  explicit Strip(std::uint32_t width)
      : row_bytes_(width * Picture::kChannels),
        columns_((row_bytes_ + kSide - 1) / kSide * kSide * kSide) {}

  std::uint8_t* column(std::size_t x) { return columns_.data() + x * kColumnBytes; }

  /// From `rows` rows, at most kSide.
  void take(const std::uint8_t* from, std::size_t rows) {
    for (std::size_t at = 0; at < row_bytes_; at += kSide) {
      const std::size_t bytes = std::min(kSide, row_bytes_ - at);
      if (rows == kSide && bytes == kSide) {
        internal::transpose_block(from + at, row_bytes_, columns_.data() + at * kSide, kSide);
        continue;
      }
      std::uint8_t block[kSide * kSide] = {};
      for (std::size_t r = 0; r < rows; ++r) {
        std::memcpy(block + r * kSide, from + r * row_bytes_ + at, bytes);
      }
      internal::transpose_block(block, kSide, columns_.data() + at * kSide, kSide);
    }
  }

  void give(std::uint8_t* to, std::size_t rows) const {
    for (std::size_t at = 0; at < row_bytes_; at += kSide) {
      const std::size_t bytes = std::min(kSide, row_bytes_ - at);
      if (rows == kSide && bytes == kSide) {
        internal::transpose_block(columns_.data() + at * kSide, kSide, to + at, row_bytes_);
        continue;
      }
      std::uint8_t block[kSide * kSide];
      internal::transpose_block(columns_.data() + at * kSide, kSide, block, kSide);
      for (std::size_t r = 0; r < rows; ++r) {
        std::memcpy(to + r * row_bytes_ + at, block + r * kSide, bytes);
      }
    }
  }

 private:
  std::size_t row_bytes_;
  std::vector<std::uint8_t> columns_;
};

Picture resized_horizontally(const Picture& picture, std::uint32_t width) {
  const Axis axis = internal::bicubic_axis(picture.width, width);
  Picture result(Size{width, picture.height});
  Strip before(picture.width);
  Strip after(width);
  for (std::size_t y = 0; y < picture.height; y += kSide) {
    const std::size_t rows = std::min(kSide, picture.height - y);
    before.take(picture.row(y), rows);
    for (std::size_t x = 0; x < width; ++x) {
      const Window& window = axis.windows[x];
      internal::weigh_rows(before.column(window.first), kColumnBytes,
                           axis.weights.data() + window.weights, window.count, after.column(x),
                           kColumnBytes);
    }
    after.give(result.row(y), rows);
  }
  return result;
}

Picture resized_vertically(const Picture& picture, std::uint32_t height) {
  const Axis axis = internal::bicubic_axis(picture.height, height);
  Picture result(Size{picture.width, height});
  for (std::size_t y = 0; y < height; ++y) {
    const Window& window = axis.windows[y];
    internal::weigh_rows(picture.row(window.first), picture.row_bytes(),
                         axis.weights.data() + window.weights, window.count, result.row(y),
                         result.row_bytes());
  }
  return result;
}

}  // namespace

Picture resize_bicubic(const Picture& picture, Size size) {
  PL_ASSERT(picture.width > 0 && picture.height > 0 && size.width > 0 && size.height > 0,
            "only pictures with pixels are resized");
  if (size.height == picture.height) {
    return size.width == picture.width ? picture : resized_horizontally(picture, size.width);
  }
  if (size.width == picture.width) return resized_vertically(picture, size.height);
  return resized_vertically(resized_horizontally(picture, size.width), size.height);
}

}  // namespace profline::images

namespace profline::images::internal {

namespace {

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

inline std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

/// The sums of this many columns stay in registers while iterating over the rows.
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
  constexpr std::size_t kMany = 48;  // what the horizontal pass uses
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
  // Interleaving row i with row i + 8 rotates the bits of each byte's position by one: after four
  // rounds (row, column) are exchanged.
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
