#include <tuple>
#include <vector>

#include <ATen/WrapDimUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "workload/model/torch_compat.h"
#include "workload/profiler/static_trace.h"

namespace profline::workload {
namespace {

using Ints = c10::IntArrayRef;

/// The shape is all there is.
at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight,
                       const c10::optional<at::Tensor>& /*bias*/, Ints stride, Ints padding,
                       Ints dilation, bool transposed, Ints /*output_padding*/,
                       std::int64_t /*groups*/) {
  TORCH_CHECK(!transposed, "transposed convolutions have no shapes here");
  std::vector<std::int64_t> shape = {input.size(0), weight.size(0)};
  for (std::int64_t i = 2; i < input.dim(); ++i) {
    const auto d = static_cast<std::size_t>(i - 2);
    const std::int64_t reach = dilation[d] * (weight.size(i) - 1) + 1;
    shape.push_back((input.size(i) + 2 * padding[d] - reach) / stride[d] + 1);
  }
  return at::empty(shape, input.options());
}

at::Tensor& logical_not(const at::Tensor& self, at::Tensor& out) {
  out.resize_(self.sizes());
  return out;
}

at::Tensor index_select(const at::Tensor& self, std::int64_t dim, const at::Tensor& index) {
  std::vector<std::int64_t> shape = self.sizes().vec();
  shape[static_cast<std::size_t>(c10::maybe_wrap_dim(dim, self.dim()))] = index.numel();
  return at::empty(shape, self.options());
}

at::Tensor flip(const at::Tensor& self, Ints /*dims*/) {
  return at::empty(self.sizes(), self.options());
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> native_layer_norm(
    const at::Tensor& input, Ints normalized_shape, const c10::optional<at::Tensor>& /*weight*/,
    const c10::optional<at::Tensor>& /*bias*/, double /*eps*/) {
  std::vector<std::int64_t> rows = input.sizes().vec();
  for (std::size_t i = 0; i < normalized_shape.size(); ++i) rows[rows.size() - 1 - i] = 1;
  return {at::empty(input.sizes(), input.options()), at::empty(rows, input.options()),
          at::empty(rows, input.options())};
}

#if !PL_TORCH_AT_LEAST(2, 0)  // from here on it asks for no values
at::Tensor repeat_interleave(const at::Tensor& self, std::int64_t repeats,
                             c10::optional<std::int64_t> dim,
                             c10::optional<std::int64_t> /*output_size*/) {
  std::vector<std::int64_t> shape = dim ? self.sizes().vec() : std::vector{self.numel()};
  const std::int64_t rank = static_cast<std::int64_t>(shape.size());
  shape[static_cast<std::size_t>(c10::maybe_wrap_dim(dim.value_or(0), rank))] *= repeats;
  return at::empty(shape, self.options());
}
#endif

bool is_there(const char* name, const char* overload) {
  const auto found = c10::Dispatcher::singleton().findSchema({name, overload});
  return found && found->hasKernelForDispatchKey(c10::DispatchKey::Meta);
}

}  // namespace

struct MetaKernels::Registrations {
  torch::Library library{torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__};
};

MetaKernels::MetaKernels() : registrations_(std::make_unique<Registrations>()) {
  torch::Library& library = registrations_->library;
  if (!is_there("aten::convolution_overrideable", "")) {
    library.impl("convolution_overrideable", convolution);
  }
  if (!is_there("aten::index_select", "")) library.impl("index_select", index_select);
  if (!is_there("aten::flip", "")) library.impl("flip", flip);
  if (!is_there("aten::native_layer_norm", "")) {
    library.impl("native_layer_norm", native_layer_norm);
  }
#if !PL_TORCH_AT_LEAST(2, 0)
  library.impl("repeat_interleave.self_int", repeat_interleave);
#endif
  if (!is_there("aten::logical_not", "out")) library.impl("logical_not.out", logical_not);
}

MetaKernels::~MetaKernels() = default;

}  // namespace profline::workload
