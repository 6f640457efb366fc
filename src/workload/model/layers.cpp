#include "workload/model/layers.h"

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

}  // namespace profline::workload
