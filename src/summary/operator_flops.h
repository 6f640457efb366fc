#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace profline::summary {

/// The sizes of an operator's inputs, from a trace: `[[1, 64], [64, 64], []]`. A list of tensors
/// inside it counts as none. Nothing when the text is no such list.
std::optional<std::vector<std::vector<std::int64_t>>> parse_shapes(std::string_view text);

/// What a call computes, by the sizes of its inputs; a multiply-add is two. Products of matrices
/// and attention (as a full square); nothing for other operators, or where sizes do not fit.
std::optional<double> operator_flops(std::string_view name, std::string_view shapes);

}  // namespace profline::summary
