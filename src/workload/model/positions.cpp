#include "workload/model/positions.h"

namespace profline::workload {

at::Tensor resize_position_grid(const at::Tensor& table, std::int64_t side) {
  if (table.size(1) == side) return table;
  const at::Tensor planes = table.permute({0, 3, 1, 2}).to(at::kFloat).contiguous();
  const at::Tensor resized =
      at::_upsample_bicubic2d_aa(planes, at::IntArrayRef{side, side}, /*align_corners=*/false);
  return resized.to(table.scalar_type()).permute({0, 2, 3, 1}).contiguous();
}

at::Tensor resize_relative_positions(const at::Tensor& table, std::int64_t length) {
  if (table.size(0) == length) return table;
  const at::Tensor line = table.t().unsqueeze(0).to(at::kFloat).contiguous();
  const at::Tensor resized =
      at::upsample_linear1d(line, at::IntArrayRef{length}, /*align_corners=*/false);
  return resized.squeeze(0).t().to(table.scalar_type()).contiguous();
}

}  // namespace profline::workload
