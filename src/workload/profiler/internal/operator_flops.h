#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <ATen/ATen.h>

namespace profline::workload::internal {

/// FLOPs of one call by the shapes of its inputs, a multiply-add being 2; nothing for an operator
/// that is no product, convolution or attention. Causal attention counts the whole square.
std::optional<std::int64_t> operator_flops(std::string_view name,
                                           c10::ArrayRef<const c10::IValue> inputs);

}  // namespace profline::workload::internal
