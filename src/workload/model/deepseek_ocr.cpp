#include "workload/model/deepseek_ocr.h"

#include <algorithm>

#include <c10/core/InferenceMode.h>

#include "base/error.h"
#include "workload/model/torch_compat.h"
#include "workload/torch_runtime.h"

namespace profline::workload {
namespace {

at::Tensor on_device(const std::vector<std::int64_t>& values, at::Device device) {
  return at::tensor(values, at::TensorOptions().dtype(at::kLong)).to(device);
}

}  // namespace

DeepseekOcr::DeepseekOcr(const DeepseekOcrConfig& config, TensorLoader& loader)
    : config_(config),
      options_(loader.options()),
      sam_(loader, config),
      clip_(loader, config),
      projector_(loader.linear("model.projector.layers", config.projector_config.n_embed,
                               config.projector_config.input_dim)),
      separators_{loader.tensor("model.image_newline", {config.hidden_size}),
                  loader.tensor("model.view_seperator", {config.hidden_size})},
      decoder_(loader, config) {}

Result<DeepseekOcr> DeepseekOcr::load(const DeepseekOcrConfig& config, WeightSource& weights,
                                      const ModelOptions& options) {
  if (options.device.is_cpu() && options.dtype == at::kHalf) {
    return Error(ErrorKind::Config,
                 "model.dtype is fp16, which libtorch does not compute on a CPU (bf16, fp32)");
  }
  return catch_torch([&]() -> Result<DeepseekOcr> {
    const c10::InferenceMode inference;
    compat::allow_tf32(options.allow_tf32);
    TensorLoader loader(weights, options);
    DeepseekOcr model(config, loader);
    if (loader.error()) return *loader.error();
    return model;
  });
}

at::Tensor DeepseekOcr::sam(const at::Tensor& views) const {
  const c10::InferenceMode inference;
  const compat::CudnnAttention quickest(true);
  return sam_(views.to(options_.device).to(options_.dtype));
}

at::Tensor DeepseekOcr::clip(const at::Tensor& sam_features) const {
  const c10::InferenceMode inference;
  const compat::CudnnAttention quickest(true);
  return clip_(sam_features);
}

at::Tensor DeepseekOcr::project(const at::Tensor& clip_features,
                                const at::Tensor& sam_features) const {
  const c10::InferenceMode inference;
  const at::Tensor patches = clip_features.narrow(1, 1, clip_features.size(1) - 1);
  return projector_(at::cat({patches, sam_features.flatten(2).transpose(1, 2)}, -1));
}

at::Tensor DeepseekOcr::assemble(const at::Tensor& tile_rows, const at::Tensor& page_rows,
                                 TileGrid grid) const {
  const c10::InferenceMode inference;
  return assemble_image_tokens(tile_rows, page_rows, grid, separators_);
}

at::Tensor DeepseekOcr::encode_views(const at::Tensor& views, Scopes& scopes) const {
  at::Tensor sam_features;
  {
    const Scope scope(scopes, scope::kSam);
    sam_features = sam(views);
  }
  at::Tensor clip_features;
  {
    const Scope scope(scopes, scope::kClip);
    clip_features = clip(sam_features);
  }
  const Scope scope(scopes, scope::kProjector);
  return project(clip_features, sam_features);
}

at::Tensor DeepseekOcr::encode_image(const ImageViews& views, Scopes& scopes) const {
  at::Tensor tile_rows;
  if (views.tiles.defined()) tile_rows = encode_views(views.tiles, scopes);
  return assemble(tile_rows, encode_views(views.page, scopes), views.grid);
}

std::vector<at::Tensor> DeepseekOcr::encode_images(std::span<const ImageViews* const> pictures,
                                                   Scopes& scopes) const {
  const c10::InferenceMode inference;
  std::vector<at::Tensor> tiles;
  std::vector<at::Tensor> pages;
  for (const ImageViews* const picture : pictures) {
    if (picture->tiles.defined()) tiles.push_back(picture->tiles);
    pages.push_back(picture->page);
  }
  at::Tensor tile_rows;
  if (!tiles.empty()) tile_rows = encode_views(at::cat(tiles, 0), scopes);
  const at::Tensor page_rows = encode_views(at::cat(pages, 0), scopes);
  std::vector<at::Tensor> rows;
  std::int64_t first_tile = 0;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    at::Tensor own_tiles;
    if (pictures[i]->tiles.defined()) {
      own_tiles = tile_rows.narrow(0, first_tile, pictures[i]->tiles.size(0));
      first_tile += own_tiles.size(0);
    }
    rows.push_back(assemble(own_tiles, page_rows.narrow(0, static_cast<std::int64_t>(i), 1),
                            pictures[i]->grid));
  }
  return rows;
}

KvCache DeepseekOcr::new_cache(std::int64_t capacity, std::int64_t sequences) const {
  const c10::InferenceMode inference;
  return {config_, options_, sequences, capacity};
}

at::Tensor DeepseekOcr::prefill(std::span<const std::int64_t> ids,
                                std::span<const std::uint8_t> is_image,
                                const at::Tensor& image_rows, KvCache& cache) const {
  const c10::InferenceMode inference;
  PL_ASSERT(ids.size() == is_image.size(), "each id is a slot of the image or is not");
  std::vector<std::int64_t> slots;
  for (std::size_t i = 0; i < is_image.size(); ++i) {
    if (is_image[i] != 0) slots.push_back(static_cast<std::int64_t>(i));
  }
  const std::int64_t rows = image_rows.defined() ? image_rows.size(0) : 0;
  PL_ASSERT(static_cast<std::int64_t>(slots.size()) == rows, "each slot has its row");
  at::Tensor x = decoder_.embed(on_device({ids.begin(), ids.end()}, options_.device).unsqueeze(0));
  if (!slots.empty()) x.index_copy_(1, on_device(slots, options_.device), image_rows.unsqueeze(0));
  return decoder_.forward(x, cache);
}

at::Tensor DeepseekOcr::prefill(std::span<const FilledPrompt> prompts, KvCache& cache) const {
  const c10::InferenceMode inference;
  std::size_t longest = 0;
  for (const FilledPrompt& prompt : prompts) longest = std::max(longest, prompt.ids.size());
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> padding;
  std::vector<std::int64_t> slots;  // places in `ids`
  std::vector<at::Tensor> rows;
  for (const FilledPrompt& prompt : prompts) {
    padding.push_back(static_cast<std::int64_t>(longest - prompt.ids.size()));
    ids.insert(ids.end(), longest - prompt.ids.size(), 0);
    for (std::size_t i = 0; i < prompt.ids.size(); ++i) {
      if (prompt.is_image[i] != 0) slots.push_back(static_cast<std::int64_t>(ids.size()));
      ids.push_back(prompt.ids[i]);
    }
    if (prompt.image_rows.defined()) rows.push_back(prompt.image_rows);
  }
  const bool is_ragged =
      std::any_of(padding.begin(), padding.end(), [](std::int64_t tokens) { return tokens > 0; });
  if (is_ragged) cache.pad(padding);
  at::Tensor x = decoder_.embed(on_device(ids, options_.device));
  if (!slots.empty()) x.index_copy_(0, on_device(slots, options_.device), at::cat(rows, 0));
  return decoder_.forward(x.view({cache.batch(), static_cast<std::int64_t>(longest), -1}), cache);
}

at::Tensor DeepseekOcr::decode(const at::Tensor& token, KvCache& cache) const {
  const c10::InferenceMode inference;
  return decoder_.forward(decoder_.embed(token.view({-1, 1})), cache);
}

}  // namespace profline::workload
