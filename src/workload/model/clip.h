#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <ATen/ATen.h>

#include "records/deepseek_ocr_config.h"
#include "workload/model/layers.h"
#include "workload/model/tensor_loader.h"

namespace profline::workload {

/// The second tower. SAM's features take the place of its patch embedding.
class Clip {
 public:
  Clip() = default;
  Clip(TensorLoader& loader, const DeepseekOcrConfig& config);

  /// features [b, C, q, q] → [b, 1 + q², C], the class token first.
  at::Tensor operator()(const at::Tensor& features) const;

 private:
  struct Block {
    LayerNorm norm1, norm2;
    Linear qkv, out, fc1, fc2;
  };
  at::Tensor run(const Block& block, const at::Tensor& x) const;
  at::Tensor positions(std::int64_t side) const;

  at::Tensor class_embedding_;     // [C]
  at::Tensor position_embedding_;  // [1 + side², C]
  std::int64_t table_side_ = 0;
  std::int64_t heads_ = 0;
  bool fused_ = true;
  LayerNorm pre_norm_;
  std::vector<Block> blocks_;
  mutable std::map<std::int64_t, at::Tensor> positions_;  // a cache: the model runs in one thread
};

}  // namespace profline::workload
