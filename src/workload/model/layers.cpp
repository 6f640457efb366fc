#include "workload/model/layers.h"

#include <utility>

#include "base/error.h"
#include "workload/model/torch_compat.h"

namespace profline::workload {

at::Tensor Linear::operator()(const at::Tensor& x) const {
  return at::linear(x, weight, bias);
}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x, weight.sizes(), weight, bias, eps);
}

at::Tensor RmsNorm::operator()(const at::Tensor& x) const {
  return compat::rms_norm(x, weight, eps);
}

at::Tensor swiglu(const at::Tensor& gate_up) {
  const std::int64_t inner = gate_up.size(-1) / 2;
  return at::silu(gate_up.narrow(-1, 0, inner)).mul_(gate_up.narrow(-1, inner, inner));
}

at::Tensor GatedMlp::operator()(const at::Tensor& x) const {
  return at::linear(swiglu(at::linear(x, gate_up)), down);
}

at::Tensor TensorLoader::allocate(at::IntArrayRef shape, at::ScalarType dtype) const {
  return at::empty(shape, at::TensorOptions().dtype(dtype).device(options_.device));
}

void TensorLoader::fill(const std::string& name, const at::Tensor& destination) {
  if (error_) return;
  if (auto filled = source_.fill(name, destination); !filled) error_ = std::move(filled).error();
}

at::Tensor TensorLoader::tensor(const std::string& name, at::IntArrayRef shape) {
  at::Tensor made = allocate(shape, options_.dtype);
  fill(name, made);
  return made;
}

at::Tensor TensorLoader::fp32_tensor(const std::string& name, at::IntArrayRef shape) {
  // Through the model's dtype, so that a router is rounded like everything else.
  return tensor(name, shape).to(at::kFloat);
}

at::Tensor TensorLoader::stacked_rows(const std::vector<std::string>& names,
                                      const std::vector<std::int64_t>& rows, std::int64_t columns) {
  PL_ASSERT(names.size() == rows.size(), "each matrix has its number of rows");
  std::int64_t total = 0;
  for (const std::int64_t count : rows) total += count;
  at::Tensor made = allocate({total, columns}, options_.dtype);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    fill(names[i], made.narrow(0, first, rows[i]));
    first += rows[i];
  }
  return made;
}

Linear TensorLoader::linear(const std::string& name, std::int64_t out, std::int64_t in) {
  return {tensor(name + ".weight", {out, in}), tensor(name + ".bias", {out})};
}

LayerNorm TensorLoader::layer_norm(const std::string& name, std::int64_t width, double eps) {
  return {tensor(name + ".weight", {width}), tensor(name + ".bias", {width}), eps};
}

RmsNorm TensorLoader::rms_norm(const std::string& name, std::int64_t width, double eps) {
  return {tensor(name + ".weight", {width}), eps};
}

GatedMlp TensorLoader::gated_mlp(const std::string& prefix, std::int64_t width,
                                 std::int64_t inner) {
  return {stacked_rows({prefix + ".gate_proj.weight", prefix + ".up_proj.weight"}, {inner, inner},
                       width),
          tensor(prefix + ".down_proj.weight", {width, inner})};
}

}  // namespace profline::workload
