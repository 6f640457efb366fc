#pragma once

#include <cstdint>

#include <ATen/ATen.h>

namespace profline::workload {

/// A square table of position vectors [1, s, s, C] for another side: bicubic with antialiasing, in
/// fp32 and then back in the table's dtype. The table itself when the side is its own.
at::Tensor resize_position_grid(const at::Tensor& table, std::int64_t side);

/// A table of relative positions [n, d] for another length: linear, in fp32 and then back.
at::Tensor resize_relative_positions(const at::Tensor& table, std::int64_t length);

}  // namespace profline::workload
