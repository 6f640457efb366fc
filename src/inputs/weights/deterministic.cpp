#include "inputs/weights/deterministic.h"

#include <cmath>

#include "inputs/weights/dtype.h"

namespace profline::weights {
namespace {

/// The variance of a product with `fan_in` inputs stays that of one input.
double unit_scale(const TensorSpec& spec) {
  const std::int64_t fan_in = spec.element_count() / spec.shape.front();
  return std::sqrt(3.0 / static_cast<double>(fan_in));
}

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

/// SplitMix64's finaliser.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// Calls `store(i, bf16)` for each element; every one depends on its own number only, so that the
/// compiler may take several at once.
template <typename Store>
void generate(const TensorSpec& spec, std::size_t count, std::uint64_t first, const Store& store) {
  const Spread spread = spread_of(spec);
  const std::uint64_t start = name_hash(spec.name) + (first + 1) * kGolden;
  for (std::size_t i = 0; i < count; ++i) {
    // 53 bits: as a signed number they convert to double in one instruction.
    const auto bits53 = static_cast<std::int64_t>(mixed(start + i * kGolden) >> 11);
    const double u = 2.0 * (static_cast<double>(bits53) * 0x1p-53) - 1.0;
    store(i, to_bf16(static_cast<float>(spread.offset + spread.scale * u)));
  }
}

}  // namespace

Spread spread_of(const TensorSpec& spec) {
  switch (spec.role) {
    case Role::Norm:
      return {1.0, 0.1};
    case Role::Bias:
      return {0.0, 0.05};
    case Role::Linear:
      return {0.0, unit_scale(spec)};
    case Role::Router:  // routing that is spread out
    case Role::Head:    // few ties
      return {0.0, 2.0 * unit_scale(spec)};
    case Role::Embedding:
      return {0.0, 0.5};
    case Role::Position:
      return {0.0, 0.2};
  }
  return {0.0, 0.0};
}

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

void fill(const TensorSpec& spec, std::span<float> values, std::uint64_t first) {
  generate(spec, values.size(), first,
           [&](std::size_t i, std::uint16_t value) { values[i] = from_bf16(value); });
}

void fill_bf16(const TensorSpec& spec, std::span<std::uint16_t> values, std::uint64_t first) {
  generate(spec, values.size(), first,
           [&](std::size_t i, std::uint16_t value) { values[i] = value; });
}

}  // namespace profline::weights
