#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "inputs/weights/tensor_specs.h"

/// Weights that need no file: a function of the tensor's name, the element's number and the role,
/// the same on every machine. SplitMix64 over FNV-1a of the name; uniform around the role's offset;
/// rounded to bf16, so that fp32 and bf16 runs share the numbers.
namespace profline::weights {

/// Values of a tensor are uniform in offset ± scale, by what it is for: activations keep their
/// size, routing is spread out, the likeliest tokens seldom tie.
struct Spread {
  double offset;
  double scale;
};
Spread spread_of(const TensorSpec& spec);

/// FNV-1a, 64 bit.
std::uint64_t name_hash(std::string_view name);

/// Elements `first`, `first + 1`, … of the tensor, row-major. Each is a bf16 value.
void fill(const TensorSpec& spec, std::span<float> values, std::uint64_t first = 0);
/// The same as bf16.
void fill_bf16(const TensorSpec& spec, std::span<std::uint16_t> values, std::uint64_t first = 0);

}  // namespace profline::weights
