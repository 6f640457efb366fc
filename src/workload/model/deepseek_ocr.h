#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "base/result.h"
#include "records/deepseek_ocr_config.h"
#include "workload/model/attention.h"
#include "workload/model/decoder.h"
#include "workload/model/layers.h"
#include "workload/model/vision.h"
#include "workload/model/weight_source.h"

namespace profline::workload {

/// A picture as the model's input: normalised pixels, on any device and in fp32.
struct ImageViews {
  at::Tensor page;   // [1, 3, S, S]
  at::Tensor tiles;  // [P, 3, s, s] in row-major order; undefined without tiles
  TileGrid grid;
};

/// A prompt whose image slots are filled.
struct FilledPrompt {
  std::span<const std::int64_t> ids;
  std::span<const std::uint8_t> is_image;  ///< marks the slots
  at::Tensor image_rows;                   ///< as many as there are slots; undefined: none
};

/// The model. Its parts can be called separately, so that each can be measured; all of them run in
/// one thread. Exceptions of libtorch (out of memory, a failed launch) pass through: callers turn
/// them into an Error with `catch_torch`, once.
class DeepseekOcr {
 public:
  /// Fails if a weight is missing or has the wrong shape, the device cannot be used or has too
  /// little memory, and for fp16 on a CPU. Sets libtorch's TF32 switches, which apply to the
  /// process.
  static Result<DeepseekOcr> load(const DeepseekOcrConfig& config, WeightSource& weights,
                                  const ModelOptions& options);

  const DeepseekOcrConfig& config() const { return config_; }
  const ModelOptions& options() const { return options_; }
  const Decoder& decoder() const { return decoder_; }
  const Sam& sam_tower() const { return sam_; }

  /// views [b, 3, S, S] → [b, C, q, q].
  at::Tensor sam(const at::Tensor& views) const;
  /// SAM's features [b, C, q, q] → [b, 1 + q², C].
  at::Tensor clip(const at::Tensor& sam_features) const;
  /// Both towers' features → [b, q², D].
  at::Tensor project(const at::Tensor& clip_features, const at::Tensor& sam_features) const;
  /// Tiles' rows (undefined: none) and the page's → [slots, D].
  at::Tensor assemble(const at::Tensor& tile_rows, const at::Tensor& page_rows,
                      TileGrid grid) const;
  /// All of the above: tiles first, then the page; scopes sam, clip and projector twice if there
  /// are tiles.
  at::Tensor encode_image(const ImageViews& views, Scopes& scopes) const;
  /// The same for several pictures, whose pages have one side, and whose tiles have one: all tiles
  /// together, then all pages. → the rows of each picture.
  std::vector<at::Tensor> encode_images(std::span<const ImageViews* const> pictures,
                                        Scopes& scopes) const;

  /// A cache for sequences of this many tokens each, padding included.
  KvCache new_cache(std::int64_t capacity, std::int64_t sequences = 1) const;
  /// Runs the prompt into an empty cache; `image_rows` fill, in order, the positions that
  /// `is_image` marks, and there must be as many. → the last token's logits, [1, vocabulary] fp32
  /// on the device.
  at::Tensor prefill(std::span<const std::int64_t> ids, std::span<const std::uint8_t> is_image,
                     const at::Tensor& image_rows, KvCache& cache) const;
  /// The same for one prompt per sequence of the cache, padded at its beginning if the others are
  /// longer. → [B, vocabulary]
  at::Tensor prefill(std::span<const FilledPrompt> prompts, KvCache& cache) const;
  /// One more token per sequence: [B] int64 on the device → [B, vocabulary] fp32 on the device.
  at::Tensor decode(const at::Tensor& token, KvCache& cache) const;

  void watch_routing(RoutingWatcher watcher) { decoder_.watch_routing(std::move(watcher)); }

 private:
  DeepseekOcr(const DeepseekOcrConfig& config, TensorLoader& loader);
  at::Tensor encode_views(const at::Tensor& views, Scopes& scopes) const;

  DeepseekOcrConfig config_;
  ModelOptions options_;
  Sam sam_;
  Clip clip_;
  Linear projector_;
  ImageSeparators separators_;
  Decoder decoder_;
};

}  // namespace profline::workload
