#include "workload/model/image_tokens.h"

#include <cmath>
#include <vector>

#include "base/assert.h"

namespace profline::workload {
namespace {

/// A raster [h, w, D] with the newline behind each row, as [h (w + 1), D].
at::Tensor with_newlines(const at::Tensor& raster, const at::Tensor& newline) {
  const at::Tensor ends = newline.expand({raster.size(0), 1, raster.size(2)});
  return at::cat({raster, ends}, 1).flatten(0, 1);
}

/// Rows [P, q², D] of tiles in row-major order as one raster [rows·q, columns·q, D].
at::Tensor stitch(const at::Tensor& tiles, TileGrid grid) {
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(tiles.size(1))));
  PL_ASSERT(side * side == tiles.size(1), "a view's features are a square map");
  PL_ASSERT(grid.rows * grid.columns == tiles.size(0), "there are as many tiles as the grid has");
  const at::Tensor maps = tiles.reshape({grid.rows, grid.columns, side, side, tiles.size(2)});
  return maps.transpose(1, 2).reshape({grid.rows * side, grid.columns * side, tiles.size(2)});
}

}  // namespace

at::Tensor assemble_image_tokens(const at::Tensor& tiles, const at::Tensor& page, TileGrid grid,
                                 const ImageSeparators& separators) {
  std::vector<at::Tensor> parts;
  if (tiles.defined()) parts.push_back(with_newlines(stitch(tiles, grid), separators.newline));
  parts.push_back(with_newlines(stitch(page, {1, 1}), separators.newline));
  parts.push_back(separators.view.unsqueeze(0));
  return at::cat(parts);
}

}  // namespace profline::workload
