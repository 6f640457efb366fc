#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "workload/model/layers.h"

namespace profline::workload {

/// A small residual network with random weights, for trying ranges, gates and replay in seconds: a
/// 3x3 stem from 3 to 16 channels, three blocks of two 3x3 convolutions, a linear head to 10
/// classes; batch norm in inference mode after each convolution.
class ShallowResnet {
 public:
  static constexpr std::int64_t kChannels = 16;
  static constexpr std::int64_t kBlocks = 3;
  static constexpr std::int64_t kClasses = 10;

  /// The same seed gives the same weights on the same device.
  ShallowResnet(const at::TensorOptions& options, std::uint64_t seed);

  /// images [B, 3, S, S] → [B, 10].
  at::Tensor forward(const at::Tensor& images, Scopes& scopes) const;

 private:
  struct Convolution {
    at::Tensor weight;
    at::Tensor scale, shift, mean, variance;  // of the batch norm that follows

    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Block {
    Convolution conv1, conv2;
  };

  Convolution stem_;
  std::vector<Block> blocks_;
  at::Tensor head_weight_, head_bias_;
};

}  // namespace profline::workload
