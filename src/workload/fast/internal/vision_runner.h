#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include <ATen/ATen.h>

#include "workload/fast/internal/graph_cache.h"
#include "workload/fast/kernels/decode_model.h"
#include "workload/model/deepseek_ocr.h"
#include "workload/model/scopes.h"

namespace profline::workload::fast {

/// Turns pictures into rows. SAM is reformulated: patches as one product, one kernel that cuts
/// windows and puts relative positions into queries and keys, nothing computed for padding. The
/// second tower and the projector run as in the model. Each is one CUDA graph per number and size
/// of views.
class VisionRunner {
 public:
  /// `model` must outlive this and have fused attention.
  VisionRunner(const DeepseekOcr& model, Stored stored) : model_(model), stored_(stored) {}

  at::Tensor encode(const ImageViews& views, Scopes& scopes);
  /// As DeepseekOcr::sam, views in the model's dtype.
  at::Tensor sam(const at::Tensor& views);
  /// How many graphs it has captured so far.
  std::size_t captured_graphs() const { return graphs_.captured(); }

 private:
  at::Tensor encode_views(const at::Tensor& views, Scopes& scopes);
  at::Tensor attention(std::size_t block, const at::Tensor& normed, std::int64_t maps,
                       std::int64_t side);
  const at::Tensor& tables(std::size_t block, std::int64_t window);

  const DeepseekOcr& model_;
  Stored stored_;
  GraphCache graphs_;
  // By block and window: relative positions, [H, d, 4 window].
  std::map<std::pair<std::size_t, std::int64_t>, at::Tensor> tables_;
};

}  // namespace profline::workload::fast
