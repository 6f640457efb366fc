#pragma once

#include <cstdint>
#include <optional>

#include "inputs/weights/dtype.h"
#include "inputs/weights/tensor.h"

namespace profline::weights::internal {

/// Of a tensor of this shape, in bits; nothing when 64 bits cannot count them.
inline std::optional<std::uint64_t> bit_size(Dtype dtype, const Shape& shape) {
  std::uint64_t product = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product)) {
      return std::nullopt;
    }
  }
  if (__builtin_mul_overflow(product, bits(dtype), &product)) return std::nullopt;
  return product;
}

}  // namespace profline::weights::internal
