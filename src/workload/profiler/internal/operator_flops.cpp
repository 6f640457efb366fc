#include "workload/profiler/internal/operator_flops.h"

#include <array>

namespace profline::workload::internal {
namespace {

using Inputs = c10::ArrayRef<const c10::IValue>;

/// [m, k] times [k, n], for each of a batch: the left one's elements times n.
std::int64_t product(const at::Tensor& left, const at::Tensor& right) {
  return 2 * left.numel() * right.size(-1);
}

template <std::size_t left>
std::int64_t product_at(Inputs inputs) {
  return product(inputs[left].toTensor(), inputs[left + 1].toTensor());
}

/// [.., k] times a vector [k].
template <std::size_t matrix>
std::int64_t vector_product_at(Inputs inputs) {
  return 2 * inputs[matrix].toTensor().numel();
}

/// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups.
std::int64_t convolution(Inputs inputs) {
  const at::Tensor& input = inputs[0].toTensor();
  const at::Tensor& weight = inputs[1].toTensor();  // [out, in / groups, ...] unless transposed
  const bool transposed = inputs[6].toBool();
  const auto stride = inputs[3].toIntVector();
  const auto padding = inputs[4].toIntVector();
  const auto dilation = inputs[5].toIntVector();
  const auto of = [](const std::vector<std::int64_t>& values, std::size_t i) {
    return values[values.size() == 1 ? 0 : i];
  };
  // Each output (transposed: each input) element takes a product with a whole filter.
  std::int64_t positions = input.size(0);
  const std::int64_t filter = weight.numel() / weight.size(0);
  if (transposed) return 2 * input.numel() * filter;
  for (std::int64_t i = 2; i < input.dim(); ++i) {
    const auto d = static_cast<std::size_t>(i - 2);
    const std::int64_t reach = of(dilation, d) * (weight.size(i) - 1) + 1;
    positions *= (input.size(i) + 2 * of(padding, d) - reach) / of(stride, d) + 1;
  }
  return 2 * positions * weight.size(0) * filter;
}

/// q [.., Q, d], k [.., N, d], v [.., N, e].
std::int64_t attention(Inputs inputs) {
  const at::Tensor& q = inputs[0].toTensor();
  const at::Tensor& k = inputs[1].toTensor();
  const at::Tensor& v = inputs[2].toTensor();
  const std::int64_t rows = q.numel() / q.size(-1);
  return 2 * rows * k.size(-2) * (q.size(-1) + v.size(-1));
}

struct Rule {
  std::string_view name;
  std::int64_t (*flops)(Inputs inputs);
};
constexpr std::array kRules = {
    Rule{"aten::mm", product_at<0>},
    Rule{"aten::bmm", product_at<0>},
    Rule{"aten::addmm", product_at<1>},
    Rule{"aten::baddbmm", product_at<1>},
    Rule{"aten::mv", vector_product_at<0>},
    Rule{"aten::addmv", vector_product_at<1>},
    Rule{"aten::dot", vector_product_at<0>},
    Rule{"aten::convolution", convolution},
    Rule{"aten::_scaled_dot_product_attention", attention},
    Rule{"aten::scaled_dot_product_attention", attention},
};

}  // namespace

std::optional<std::int64_t> operator_flops(std::string_view name, Inputs inputs) {
  for (const Rule& rule : kRules) {
    if (rule.name == name) return rule.flops(inputs);
  }
  return std::nullopt;
}

}  // namespace profline::workload::internal
