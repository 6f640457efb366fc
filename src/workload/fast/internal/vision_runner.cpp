#include <cmath>
#include <string>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

#include "workload/fast/internal/runners.h"
#include "workload/fast/kernels/prefill.h"
#include "workload/model/attention.h"
#include "workload/model/torch_compat.h"

namespace profline::workload::fast {
namespace {

cudaStream_t stream_of(const at::Tensor& tensor) {
  return at::cuda::getCurrentCUDAStream(tensor.device().index());
}

int as_int(std::int64_t value) {
  return static_cast<int>(value);
}

/// Non-overlapping squares of pixels, each a row: [b, 3, S, S] → [b g², 3 p²].
at::Tensor cut_patches(const at::Tensor& views, std::int64_t patch) {
  const std::int64_t batch = views.size(0);
  const std::int64_t grid = views.size(2) / patch;
  const at::Tensor whole = views.narrow(2, 0, grid * patch).narrow(3, 0, grid * patch);
  return whole.reshape({batch, 3, grid, patch, grid, patch})
      .permute({0, 2, 4, 1, 3, 5})
      .reshape({batch * grid * grid, 3 * patch * patch});
}

std::string key_of(const char* what, const at::Tensor& tensor) {
  std::string key = what;
  for (const std::int64_t size : tensor.sizes()) key += ' ' + std::to_string(size);
  return key;
}

}  // namespace

const at::Tensor& VisionRunner::tables(std::size_t block, std::int64_t window) {
  const auto known = tables_.find({block, window});
  if (known != tables_.end()) return known->second;
  const SamAttention& attention = model_.sam_tower().blocks()[block].attention;
  const at::Tensor rows = resize_relative_positions(attention.rel_pos_h(), 2 * window - 1);
  const at::Tensor columns = resize_relative_positions(attention.rel_pos_w(), 2 * window - 1);
  const std::int64_t head_dim = rows.size(1);
  const at::Tensor unused = at::zeros({2, head_dim}, rows.options());
  // Attention scales scores, and with them the bias: √d compensates for that, exactly if it is a
  // power of two.
  const at::Tensor table =
      at::cat({rows, columns, unused}).mul(std::sqrt(static_cast<double>(head_dim)));
  const at::Tensor each =
      table.t().unsqueeze(0).expand({attention.heads(), head_dim, 4 * window}).contiguous();
  return tables_[{block, window}] = each;
}

at::Tensor VisionRunner::attention(std::size_t block, const at::Tensor& normed, std::int64_t maps,
                                   std::int64_t side) {
  const Sam::Block& weights = model_.sam_tower().blocks()[block];
  const SamAttention& attention = weights.attention;
  const std::int64_t width = normed.size(1);
  const std::int64_t heads = attention.heads();
  const std::int64_t head_dim = width / heads;
  const std::int64_t tokens = normed.size(0);
  SamPack pack;
  pack.windows.maps = as_int(maps);
  pack.windows.side = as_int(side);
  pack.windows.window = as_int(weights.window > 0 ? weights.window : side);
  pack.windows.heads = as_int(heads);
  pack.windows.head_dim = as_int(head_dim);
  const std::int64_t window = pack.windows.window;
  constexpr std::int64_t kWholeWords = 8;  // of bf16; of fp32, two
  pack.length = as_int((head_dim + 2 * window + kWholeWords - 1) / kWholeWords * kWholeWords);

  // One extra row: a padded token's q, k and v are the bias.
  const at::Tensor qkv = at::empty({tokens + 1, 3 * width}, normed.options());
  at::Tensor rows = qkv.narrow(0, 0, tokens);
  at::addmm_out(rows, attention.qkv().bias, normed, attention.qkv().weight.t());
  qkv.select(0, tokens).copy_(attention.qkv().bias);
  const at::Tensor queries_by_head =
      qkv.view({tokens + 1, 3, heads, head_dim}).select(1, 0).transpose(0, 1);
  const at::Tensor products = at::bmm(queries_by_head, tables(block, window));

  const std::int64_t count = pack.windows.count();
  const at::Tensor queries =
      at::empty({count, heads, window * window, pack.length}, normed.options());
  const at::Tensor keys = at::empty_like(queries);
  const at::Tensor values = at::empty({count, heads, window * window, head_dim}, normed.options());
  pack.qkv = qkv.data_ptr();
  pack.products = products.data_ptr();
  pack.queries = queries.data_ptr();
  pack.keys = keys.data_ptr();
  pack.values = values.data_ptr();
  C10_CUDA_CHECK(launch_sam_pack(pack, stored_, stream_of(normed)));

  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  const at::Tensor attended =
      attend(queries, keys, values, scale, Masking::None, /*fused=*/true).contiguous();
  const at::Tensor joined = at::empty({tokens, width}, normed.options());
  C10_CUDA_CHECK(launch_sam_unpack(pack.windows, attended.data_ptr(), joined.data_ptr(), stored_,
                                   stream_of(normed)));
  return at::addmm(attention.out().bias, joined, attention.out().weight.t());
}

at::Tensor VisionRunner::sam(const at::Tensor& views) {
  const Sam& tower = model_.sam_tower();
  const std::int64_t maps = views.size(0);
  const std::int64_t patch = tower.patch_weight().size(-1);
  const std::int64_t side = views.size(2) / patch;
  const std::int64_t width = tower.patch_weight().size(0);
  const at::Tensor patches =
      at::addmm(tower.patch_bias(), cut_patches(views, patch), tower.patch_weight().flatten(1).t());
  at::Tensor x = (patches.view({maps, side, side, width}) + tower.positions(side))
                     .view({maps * side * side, width});
  for (std::size_t i = 0; i < tower.blocks().size(); ++i) {
    const Sam::Block& block = tower.blocks()[i];
    x = x + attention(i, block.norm1(x), maps, side);
    x = x + block.lin2(at::gelu(block.lin1(block.norm2(x))));
  }
  return tower.neck(x.view({maps, side, side, width}));
}

at::Tensor VisionRunner::encode_views(const at::Tensor& views, Scopes& scopes) {
  const compat::CudnnAttention quickest(true);
  at::Tensor features;
  {
    const Scope scope(scopes, scope::kSam);
    const at::Tensor pixels = views.to(model_.options().device).to(model_.options().dtype);
    features = graphs_.run(key_of("sam", pixels), {pixels},
                           [&](const auto& inputs) { return sam(inputs[0]); });
  }
  at::Tensor tokens;
  {
    const Scope scope(scopes, scope::kClip);
    tokens = graphs_.run(key_of("clip", features), {features},
                         [&](const auto& inputs) { return model_.clip(inputs[0]); });
  }
  const Scope scope(scopes, scope::kProjector);
  return model_.project(tokens, features);
}

at::Tensor VisionRunner::encode(const ImageViews& views, Scopes& scopes) {
  at::Tensor tile_rows;
  if (views.tiles.defined()) tile_rows = encode_views(views.tiles, scopes);
  return model_.assemble(tile_rows, encode_views(views.page, scopes), views.grid);
}

}  // namespace profline::workload::fast
