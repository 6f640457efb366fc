#pragma once

#include <cstdint>
#include <string>

#include <ATen/ATen.h>

#include "records/deepseek_ocr_config.h"
#include "workload/model/layers.h"
#include "workload/model/tensor_loader.h"

namespace profline::workload {

/// Which experts each token goes to.
struct Routing {
  at::Tensor experts;  // [T, k] int64, in no order
  at::Tensor weights;  // [T, k] fp32
};

/// A layer's experts: `k` of `E` for each token, and the shared ones for all.
class Moe {
 public:
  Moe() = default;
  Moe(TensorLoader& loader, const std::string& prefix, const DeepseekOcrConfig& config);

  /// x [T, D] → [T, D].
  at::Tensor operator()(const at::Tensor& x, const Routing& routing) const;
  Routing route(const at::Tensor& x) const;

  /// The chosen experts' weights gathered, one small product each: no matter how many experts there
  /// are, the same few launches and nothing asked of the device. Costs a copy of those weights.
  at::Tensor routed_by_gather(const at::Tensor& x, const Routing& routing) const;
  /// Tokens sorted by expert, one product for each expert's tokens. Without a grouped product in
  /// libtorch the counts are copied to the host, once.
  at::Tensor routed_by_group(const at::Tensor& x, const Routing& routing) const;

  const at::Tensor& router() const { return router_; }
  const at::Tensor& gate_up() const { return gate_up_; }
  const at::Tensor& down() const { return down_; }
  const GatedMlp& shared() const { return shared_; }

 private:
  at::Tensor router_;   // [E, D] fp32
  at::Tensor gate_up_;  // [E, 2I, D]
  at::Tensor down_;     // [E, D, I]
  GatedMlp shared_;
  std::int64_t experts_per_token_ = 0;
  bool normalise_ = false;
  double scaling_ = 1.0;
};

}  // namespace profline::workload
