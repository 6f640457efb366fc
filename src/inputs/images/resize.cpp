// Compiled with -ffp-contract=off: a fused multiply-add would round a weight otherwise than Pillow
// does.

#include "inputs/images/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "inputs/images/internal/weighing.h"

namespace profline::images {
namespace internal {
namespace {

/// Keys' cubic with a = -1/2, in the form whose rounding Pillow's weights have.
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

/// kSide rows of a picture turned over: one byte column of it after the other, so that what stood
/// side by side is summed like rows are.
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
