#include "workload/model/clip.h"

#include <cmath>
#include <string>

#include "workload/model/attention.h"
#include "workload/model/positions.h"

namespace profline::workload {
namespace {

constexpr double kNormEps = 1e-5;

at::Tensor quick_gelu(const at::Tensor& x) {
  return at::sigmoid(x * 1.702).mul_(x);
}

}  // namespace

Clip::Clip(TensorLoader& loader, const DeepseekOcrConfig& config)
    : table_side_(config.clip().grid()),
      heads_(config.clip().heads),
      fused_(loader.options().fused_attention) {
  const deepseek_ocr::Clip& clip = config.clip();
  const std::int64_t width = clip.width;
  const std::string prefix = "model.vision_model.";
  class_embedding_ = loader.tensor(prefix + "embeddings.class_embedding", {width});
  position_embedding_ = loader.tensor(prefix + "embeddings.position_embedding.weight",
                                      {1 + table_side_ * table_side_, width});
  pre_norm_ = loader.layer_norm(prefix + "pre_layrnorm", width, kNormEps);
  for (std::int64_t i = 0; i < clip.layers; ++i) {
    const std::string block = prefix + "transformer.layers." + std::to_string(i);
    const std::int64_t inner = width * clip.mlp_ratio;
    blocks_.push_back({loader.layer_norm(block + ".layer_norm1", width, kNormEps),
                       loader.layer_norm(block + ".layer_norm2", width, kNormEps),
                       loader.linear(block + ".self_attn.qkv_proj", 3 * width, width),
                       loader.linear(block + ".self_attn.out_proj", width, width),
                       loader.linear(block + ".mlp.fc1", inner, width),
                       loader.linear(block + ".mlp.fc2", width, inner)});
  }
}

at::Tensor Clip::positions(std::int64_t side) const {
  if (side == table_side_) return position_embedding_;
  const auto known = positions_.find(side);
  if (known != positions_.end()) return known->second;
  const at::Tensor grid = position_embedding_.narrow(0, 1, table_side_ * table_side_)
                              .view({1, table_side_, table_side_, -1});
  const at::Tensor resized = resize_position_grid(grid, side).view({side * side, -1});
  return positions_[side] = at::cat({position_embedding_.narrow(0, 0, 1), resized});
}

at::Tensor Clip::run(const Block& block, const at::Tensor& x) const {
  const auto [q, k, v] = split_heads(block.qkv(block.norm1(x)), heads_);
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
  const at::Tensor attended = attend(q, k, v, scale, Masking::None, fused_);
  const at::Tensor y = x + block.out(join_heads(attended));
  return y + block.fc2(quick_gelu(block.fc1(block.norm2(y))));
}

at::Tensor Clip::operator()(const at::Tensor& features) const {
  const at::Tensor patches = features.flatten(2).transpose(1, 2);
  const at::Tensor first = class_embedding_.expand({features.size(0), 1, -1});
  at::Tensor x = pre_norm_(at::cat({first, patches}, 1) + positions(features.size(-1)));
  for (const Block& block : blocks_) x = run(block, x);
  return x;
}

}  // namespace profline::workload
