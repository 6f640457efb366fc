#pragma once

#include <cstdint>

#include <ATen/ATen.h>

namespace profline::workload {

/// How many tiles a picture was cut into.
struct TileGrid {
  std::int64_t columns = 1;
  std::int64_t rows = 1;

  bool operator==(const TileGrid&) const = default;
};

/// The learned vectors that end a row and a picture, [D] each.
struct ImageSeparators {
  at::Tensor newline;
  at::Tensor view;
};

/// The rows that stand for a picture in the prompt: the tiles' features stitched into one raster,
/// each raster row ended by a newline; then the whole page's, likewise; then the separator.
/// `tiles` [P, q², D] in row-major order, or undefined without tiles; `page` [1, q², D].
at::Tensor assemble_image_tokens(const at::Tensor& tiles, const at::Tensor& page, TileGrid grid,
                                 const ImageSeparators& separators);

}  // namespace profline::workload
