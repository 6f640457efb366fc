#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <ATen/ATen.h>

#include "records/deepseek_ocr_config.h"
#include "workload/model/layers.h"

namespace profline::workload {

/// Attention over an h×h map of tokens with SAM's decomposed relative positions: a key `i` rows and
/// `j` columns away gets the bias q·R_h[i] + q·R_w[j].
///
/// The bias of a 64×64 map has 4096² entries per head. The fused form never materialises it: with
/// one-hot rows and columns appended to k and the 2h products q·R appended to q, the scores of the
/// longer vectors are the scores with the bias, and any fused kernel accepts them. Separate
/// operators add the bias as in the formula.
class SamAttention {
 public:
  SamAttention() = default;
  SamAttention(TensorLoader& loader, const std::string& prefix, std::int64_t width,
               std::int64_t heads, std::int64_t table_side);

  /// x [B, h, h, width] → the same shape.
  at::Tensor operator()(const at::Tensor& x) const;

  /// Its weights, for those who compute the same in another way.
  const Linear& qkv() const { return qkv_; }
  const Linear& out() const { return out_; }
  const at::Tensor& rel_pos_h() const { return rel_pos_h_; }
  const at::Tensor& rel_pos_w() const { return rel_pos_w_; }
  std::int64_t heads() const { return heads_; }

 private:
  /// Tables that depend only on the side of the map; computed when a side is first used.
  struct Tables {
    at::Tensor rows;      // [h, h, d]: R_h of query row, key row
    at::Tensor columns;   // [h, h, d]
    at::Tensor position;  // [h², 2h]: one-hot row and one-hot column of each key
  };
  const Tables& tables(std::int64_t side) const;

  Linear qkv_;
  Linear out_;
  at::Tensor rel_pos_h_;  // [2·table_side − 1, d]
  at::Tensor rel_pos_w_;
  std::int64_t heads_ = 0;
  bool fused_ = true;
  mutable std::map<std::int64_t, Tables> tables_;  // a cache: the model runs in one thread
};

/// The first tower: pixels to a map of features, 1/64 of the picture's side.
class Sam {
 public:
  Sam() = default;
  Sam(TensorLoader& loader, const DeepseekOcrConfig& config);

  /// views [b, 3, S, S] → [b, C, q, q], q = ⌈⌊S/16⌋/4⌉ for the release.
  at::Tensor operator()(const at::Tensor& views) const;

  struct Block {
    LayerNorm norm1, norm2;
    SamAttention attention;
    Linear lin1, lin2;
    std::int64_t window = 0;  // 0: over the whole map
  };
  /// Its parts, for those who compute the same in another way.
  const std::vector<Block>& blocks() const { return blocks_; }
  const at::Tensor& patch_weight() const { return patch_weight_; }
  const at::Tensor& patch_bias() const { return patch_bias_; }
  /// The layers after the blocks: x [b, g, g, width] → [b, C, q, q].
  at::Tensor neck(const at::Tensor& x) const;
  /// Position vectors of a map, [1, side, side, width].
  at::Tensor positions(std::int64_t side) const;

 private:
  static at::Tensor run(const Block& block, const at::Tensor& x);
  at::Tensor patches(const at::Tensor& views) const;

  at::Tensor patch_weight_, patch_bias_;
  std::int64_t patch_ = 0;
  at::Tensor pos_embed_;  // [1, side, side, width]
  std::vector<Block> blocks_;
  Linear neck0_;
  LayerNorm neck1_, neck3_;
  at::Tensor neck2_, net2_, net3_;
  mutable std::map<std::int64_t, at::Tensor> positions_;  // by side; one thread, as above
};

/// Cuts a map [B, h, w, C] into windows [B·n, side, side, C] in row-major order, zero-padded at the
/// bottom and the right; as in the release, the padding is not masked later.
at::Tensor split_windows(const at::Tensor& map, std::int64_t side);
/// The inverse, without the padding; `height` and `width` are the map's.
at::Tensor join_windows(const at::Tensor& windows, std::int64_t height, std::int64_t width);

/// The second tower. SAM's features replace its patch embedding.
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

/// The grid of tiles that a picture was cut into.
struct TileGrid {
  std::int64_t columns = 1;
  std::int64_t rows = 1;

  bool operator==(const TileGrid&) const = default;
};

/// The learned vectors that end a row and a picture, [D] each.
struct ImageSeparators {
  at::Tensor newline;
  at::Tensor view;
};

/// The rows that represent a picture in the prompt: the tiles' features stitched into one raster,
/// each raster row ended by a newline; then the whole page's, likewise; then the separator. `tiles`
/// [P, q², D] in row-major order, or undefined without tiles; `page` [1, q², D].
at::Tensor assemble_image_tokens(const at::Tensor& tiles, const at::Tensor& page, TileGrid grid,
                                 const ImageSeparators& separators);

}  // namespace profline::workload
