#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "workload/ceilings/internal/bench.h"

namespace profline::workload::ceilings {

/// A matrix product [m, k] x [k, n].
struct ProductShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool is_transposed = true;  ///< the second operand is stored as [n, k], as weights are

  bool operator==(const ProductShape&) const = default;
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  std::string to_string() const;  ///< `4096 x 4096 x 1024`
};

/// The number format of a product's operands.
enum class Format { Bf16, Fp16, Tf32, Fp32, Fp8, Fp8Fast };
std::string to_text(Format format);  ///< `fp8 fast`: accumulated less exactly

/// The call that multiplies random normal matrices; throws libtorch's exception if the device
/// cannot multiply this format.
std::function<void()> make_product(Format format, const ProductShape& shape, at::Device device);

struct ProductPlan {
  std::vector<ProductShape> candidates;  ///< for the best rate, smallest first
  std::vector<ProductShape> typical;     ///< candidates too, and measured in any case
  Seconds longest_call{0.1};             ///< larger candidates are left out
  Seconds trial{0.02};                   ///< how long each candidate is tried
};

/// Finds the candidate with the highest rate and measures it, and then the typical shapes. The best
/// is the one with the highest rate in these measurements.
void measure_products(Bench& bench, Format format, at::Device device, const ProductPlan& plan);

}  // namespace profline::workload::ceilings
