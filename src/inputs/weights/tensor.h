#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace profline::weights {

/// Every element type of the safetensors format.
enum class Dtype : std::uint8_t {
  Bool,
  F4,
  F6E2M3,
  F6E3M2,
  U8,
  I8,
  F8E5M2,
  F8E4M3,
  F8E8M0,
  F8E4M3Fnuz,
  F8E5M2Fnuz,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  C64,
  F64,
  I64,
  U64,
};

/// In the spelling of the format: `BF16`.
std::string_view name(Dtype dtype);
std::optional<Dtype> dtype_named(std::string_view name);
/// The size of one element, in bits: some are smaller than a byte.
std::uint64_t bits(Dtype dtype);

/// Whether the model can be loaded from it.
constexpr bool is_weight_dtype(Dtype dtype) {
  return dtype == Dtype::F32 || dtype == Dtype::F16 || dtype == Dtype::BF16;
}

/// The upper half of `value`, rounded to nearest, ties to even. NaN stays NaN.
constexpr std::uint16_t to_bf16(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  if ((word & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((word >> 16) | 0x40U);
  return static_cast<std::uint16_t>((word + 0x7fffU + ((word >> 16) & 1U)) >> 16);
}
constexpr float from_bf16(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

using Shape = std::vector<std::int64_t>;

/// `[64, 3, 16, 16]`
std::string to_string(const Shape& shape);

/// A tensor in a file that is mapped into memory; row-major, little-endian. The bytes belong to the
/// SafetensorsFile or Checkpoint it came from and are valid as long as that lives.
struct Tensor {
  std::string name;
  Dtype dtype = Dtype::F32;
  Shape shape;
  std::span<const std::byte> bytes;

  /// Whether the bytes can be read as elements in place. The format does not guarantee it; files
  /// from the official writer and from ours are aligned.
  bool is_aligned() const;
};

/// The size of a tensor of this shape, in bits; nothing if it exceeds 64 bits.
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

}  // namespace profline::weights
