#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/error.h"
#include "workload/model/layers.h"
#include "workload/model/options.h"
#include "workload/model/weight_source.h"

namespace profline::workload {

/// Makes the model's tensors from a source. The first failure is kept and everything after it
/// skipped, so that modules read as lists of what they are made of; `error()` at the end tells.
class TensorLoader {
 public:
  TensorLoader(WeightSource& source, const ModelOptions& options)
      : source_(source), options_(options) {}

  const ModelOptions& options() const { return options_; }
  const std::optional<Error>& error() const { return error_; }

  at::Tensor tensor(const std::string& name, at::IntArrayRef shape);
  /// In fp32 whatever the model's dtype is.
  at::Tensor fp32_tensor(const std::string& name, at::IntArrayRef shape);
  /// Several matrices of so many rows each, one above the other, in one tensor.
  at::Tensor stacked_rows(const std::vector<std::string>& names,
                          const std::vector<std::int64_t>& rows, std::int64_t columns);

  /// `name.weight` [out, in] and `name.bias`.
  Linear linear(const std::string& name, std::int64_t out, std::int64_t in);
  /// `name.weight` and `name.bias`.
  LayerNorm layer_norm(const std::string& name, std::int64_t width, double eps);
  RmsNorm rms_norm(const std::string& name, std::int64_t width, double eps);
  /// `prefix.gate_proj`, `up_proj` and `down_proj`.
  GatedMlp gated_mlp(const std::string& prefix, std::int64_t width, std::int64_t inner);

  at::Tensor allocate(at::IntArrayRef shape, at::ScalarType dtype) const;
  void fill(const std::string& name, const at::Tensor& destination);

 private:
  WeightSource& source_;
  ModelOptions options_;
  std::optional<Error> error_;
};

}  // namespace profline::workload
