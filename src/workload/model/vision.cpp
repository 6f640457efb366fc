#include "workload/model/vision.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "workload/model/attention.h"

namespace profline::workload {
namespace {

constexpr double kSamNormEps = 1e-6;
// Fused kernels need vectors of whole 16-byte words.
constexpr std::int64_t kVectorMultiple = 8;

/// [side, side, d]: the row of a table of 2·side − 1 relative positions for each query and key.
at::Tensor relative_rows(const at::Tensor& table, std::int64_t side) {
  const at::Tensor resized = resize_relative_positions(table, 2 * side - 1);
  const at::Tensor place = at::arange(side, table.options().dtype(at::kLong));
  const at::Tensor distance = place.unsqueeze(1) - place.unsqueeze(0) + (side - 1);
  return resized.index_select(0, distance.flatten()).view({side, side, -1});
}

at::Tensor one_hot_places(std::int64_t side, std::int64_t padding, at::TensorOptions options) {
  const at::Tensor eye = at::eye(side, options.dtype(at::kFloat)).to(options.dtype());
  return at::cat({eye.repeat_interleave(side, 0), eye.repeat({side, 1}),
                  at::zeros({side * side, padding}, options)},
                 1);
}

constexpr double kClipNormEps = 1e-5;

at::Tensor quick_gelu(const at::Tensor& x) {
  return at::sigmoid(x * 1.702).mul_(x);
}

/// A raster [h, w, D] with the newline after each row, as [h (w + 1), D].
at::Tensor with_newlines(const at::Tensor& raster, const at::Tensor& newline) {
  const at::Tensor ends = newline.expand({raster.size(0), 1, raster.size(2)});
  return at::cat({raster, ends}, 1).flatten(0, 1);
}

/// Rows [P, q², D] of tiles in row-major order as one raster [rows·q, columns·q, D].
at::Tensor stitch(const at::Tensor& tiles, TileGrid grid) {
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(tiles.size(1))));
  PL_ASSERT(side * side == tiles.size(1), "a view's features are a square map");
  PL_ASSERT(grid.rows * grid.columns == tiles.size(0), "there are as many tiles as the grid has");
  const at::Tensor maps = tiles.reshape({grid.rows, grid.columns, side, side, tiles.size(2)});
  return maps.transpose(1, 2).reshape({grid.rows * side, grid.columns * side, tiles.size(2)});
}

}  // namespace

SamAttention::SamAttention(TensorLoader& loader, const std::string& prefix, std::int64_t width,
                           std::int64_t heads, std::int64_t table_side)
    : qkv_(loader.linear(prefix + ".qkv", 3 * width, width)),
      out_(loader.linear(prefix + ".proj", width, width)),
      rel_pos_h_(loader.tensor(prefix + ".rel_pos_h", {2 * table_side - 1, width / heads})),
      rel_pos_w_(loader.tensor(prefix + ".rel_pos_w", {2 * table_side - 1, width / heads})),
      heads_(heads),
      fused_(loader.options().fused_attention) {}

const SamAttention::Tables& SamAttention::tables(std::int64_t side) const {
  const auto known = tables_.find(side);
  if (known != tables_.end()) return known->second;
  const std::int64_t length = rel_pos_h_.size(1) + 2 * side;
  const std::int64_t padding = (kVectorMultiple - length % kVectorMultiple) % kVectorMultiple;
  return tables_[side] = {relative_rows(rel_pos_h_, side), relative_rows(rel_pos_w_, side),
                          one_hot_places(side, padding, rel_pos_h_.options())};
}

at::Tensor SamAttention::operator()(const at::Tensor& x) const {
  const auto batch = x.size(0);
  const auto side = x.size(1);
  const auto tokens = side * side;
  const auto [q, k, v] = split_heads(qkv_(x.view({batch, tokens, -1})), heads_);
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(-1)));

  const Tables& table = tables(side);
  const at::Tensor q_map = q.view({batch, heads_, side, side, q.size(-1)});
  const at::Tensor by_row =
      at::einsum("bnijd,ikd->bnijk", {q_map, table.rows}).reshape({batch, heads_, tokens, side});
  const at::Tensor by_column =
      at::einsum("bnijd,jkd->bnijk", {q_map, table.columns}).reshape({batch, heads_, tokens, side});

  at::Tensor attended;
  if (fused_) {
    const std::int64_t places = table.position.size(1);
    const at::Tensor padding =
        at::zeros({1}, q.options()).expand({batch, heads_, tokens, places - 2 * side});
    const at::Tensor position = table.position.expand({batch, heads_, tokens, places});
    attended = attend(at::cat({q * scale, by_row, by_column, padding}, -1),
                      at::cat({k, position}, -1), v, 1.0, Masking::None, true);
  } else {
    const at::Tensor bias =
        (by_row.unsqueeze(-1) + by_column.unsqueeze(-2)).view({batch, heads_, tokens, tokens});
    attended = attend_explicitly(q, k, v, bias, scale, Masking::None);
  }
  return out_(join_heads(attended)).view({batch, side, side, -1});
}

at::Tensor split_windows(const at::Tensor& map, std::int64_t side) {
  const auto batch = map.size(0);
  const std::int64_t below = (side - map.size(1) % side) % side;
  const std::int64_t right = (side - map.size(2) % side) % side;
  const at::Tensor padded =
      below + right > 0 ? at::constant_pad_nd(map, {0, 0, 0, right, 0, below}) : map;
  const at::Tensor cut =
      padded.view({batch, padded.size(1) / side, side, padded.size(2) / side, side, map.size(3)});
  return cut.transpose(2, 3).reshape({-1, side, side, map.size(3)});
}

at::Tensor join_windows(const at::Tensor& windows, std::int64_t height, std::int64_t width) {
  const auto side = windows.size(1);
  const std::int64_t down = (height + side - 1) / side;
  const std::int64_t across = (width + side - 1) / side;
  const at::Tensor cut = windows.view({-1, down, across, side, side, windows.size(3)});
  const at::Tensor padded =
      cut.transpose(2, 3).reshape({-1, down * side, across * side, windows.size(3)});
  return padded.narrow(1, 0, height).narrow(2, 0, width);
}

Sam::Sam(TensorLoader& loader, const DeepseekOcrConfig& config) : patch_(config.sam().patch_size) {
  const deepseek_ocr::Sam& sam = config.sam();
  const std::string prefix = "model.sam_model.";
  const std::int64_t side = config.sam_grid();
  patch_weight_ = loader.tensor(prefix + "patch_embed.proj.weight", {sam.width, 3, patch_, patch_});
  patch_bias_ = loader.tensor(prefix + "patch_embed.proj.bias", {sam.width});
  pos_embed_ = loader.tensor(prefix + "pos_embed", {1, side, side, sam.width});
  for (std::int64_t i = 0; i < sam.layers; ++i) {
    const std::string block = prefix + "blocks." + std::to_string(i);
    const std::int64_t window = sam.is_global(i) ? 0 : sam.window_size;
    const std::int64_t inner = sam.width * sam.mlp_ratio;
    blocks_.push_back(
        {loader.layer_norm(block + ".norm1", sam.width, kSamNormEps),
         loader.layer_norm(block + ".norm2", sam.width, kSamNormEps),
         SamAttention(loader, block + ".attn", sam.width, sam.heads, window > 0 ? window : side),
         loader.linear(block + ".mlp.lin1", inner, sam.width),
         loader.linear(block + ".mlp.lin2", sam.width, inner), window});
  }
  const std::int64_t neck = sam.neck_channels;
  neck0_.weight = loader.tensor(prefix + "neck.0.weight", {neck, sam.width, 1, 1}).flatten(1);
  neck1_ = loader.layer_norm(prefix + "neck.1", neck, kSamNormEps);
  neck2_ = loader.tensor(prefix + "neck.2.weight", {neck, neck, 3, 3});
  neck3_ = loader.layer_norm(prefix + "neck.3", neck, kSamNormEps);
  const auto& channels = sam.downsample_channels;
  net2_ = loader.tensor(prefix + "net_2.weight", {channels[0], neck, 3, 3});
  net3_ = loader.tensor(prefix + "net_3.weight", {channels[1], channels[0], 3, 3});
}

at::Tensor Sam::positions(std::int64_t side) const {
  const auto known = positions_.find(side);
  if (known != positions_.end()) return known->second;
  return positions_[side] = resize_position_grid(pos_embed_, side);
}

at::Tensor Sam::patches(const at::Tensor& views) const {
  const at::Tensor planes =
      at::conv2d(views, patch_weight_, patch_bias_, /*stride=*/{patch_, patch_});
  return planes.permute({0, 2, 3, 1}).contiguous() + positions(planes.size(-1));
}

at::Tensor Sam::run(const Block& block, const at::Tensor& x) {
  at::Tensor y = block.norm1(x);
  if (block.window > 0) {
    y = join_windows(block.attention(split_windows(y, block.window)), x.size(1), x.size(2));
  } else {
    y = block.attention(y);
  }
  const at::Tensor attended = x + y;
  return attended + block.lin2(at::gelu(block.lin1(block.norm2(attended))));
}

at::Tensor Sam::neck(const at::Tensor& x) const {
  // Channels stay last in memory throughout: norms need it, and convolutions are faster with it.
  const auto convolve = [](const at::Tensor& map, const at::Tensor& weight, std::int64_t stride) {
    const at::Tensor planes = at::conv2d(map.permute({0, 3, 1, 2}), weight, {}, {stride, stride},
                                         /*padding=*/{1, 1});
    return planes.permute({0, 2, 3, 1}).contiguous();
  };
  const at::Tensor narrow = neck3_(convolve(neck1_(neck0_(x)), neck2_, 1));
  return convolve(convolve(narrow, net2_, 2), net3_, 2).permute({0, 3, 1, 2});
}

at::Tensor Sam::operator()(const at::Tensor& views) const {
  at::Tensor x = patches(views);
  for (const Block& block : blocks_) x = run(block, x);
  return neck(x);
}

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
  pre_norm_ = loader.layer_norm(prefix + "pre_layrnorm", width, kClipNormEps);
  for (std::int64_t i = 0; i < clip.layers; ++i) {
    const std::string block = prefix + "transformer.layers." + std::to_string(i);
    const std::int64_t inner = width * clip.mlp_ratio;
    blocks_.push_back({loader.layer_norm(block + ".layer_norm1", width, kClipNormEps),
                       loader.layer_norm(block + ".layer_norm2", width, kClipNormEps),
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

at::Tensor assemble_image_tokens(const at::Tensor& tiles, const at::Tensor& page, TileGrid grid,
                                 const ImageSeparators& separators) {
  std::vector<at::Tensor> parts;
  if (tiles.defined()) parts.push_back(with_newlines(stitch(tiles, grid), separators.newline));
  parts.push_back(with_newlines(stitch(page, {1, 1}), separators.newline));
  parts.push_back(separators.view.unsqueeze(0));
  return at::cat(parts);
}

}  // namespace profline::workload
