#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include "base/result.h"
#include "inputs/tokenizer/tokenizer.h"
#include "workload/generation/token_chooser.h"
#include "workload/model/deepseek_ocr.h"
#include "workload/model/layers.h"

namespace profline::workload {

/// Decoding without the host: each token is chosen on the device and the next step begins at once.
/// Greedy only, with the rules of TokenChooser.
class DeviceLoop {
 public:
  virtual ~DeviceLoop() = default;
  /// Chooses the first token from the prompt's logits [1, vocabulary], and waits for it.
  virtual std::int64_t first(std::span<const std::int64_t> prompt, const at::Tensor& logits,
                             const GenerationOptions& options) = 0;
  /// Up to `count` further tokens, each a decode_step. Calls `on_id` with each token as soon as the
  /// host knows it, some steps late; it returns whether to continue. Steps that have begun by then
  /// are finished and discarded.
  virtual void run(std::int64_t count, Scopes& scopes,
                   const std::function<bool(std::int64_t id)>& on_id) = 0;
};

/// How a model is run: the same parts, computed in different ways. One sequence at a time, in one
/// thread. Exceptions of libtorch pass through.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Its name in reports.
  virtual std::string_view name() const = 0;
  virtual const DeepseekOcr& model() const = 0;

  /// Both towers' rows for a picture, as in DeepseekOcr::encode_image.
  virtual at::Tensor encode_image(const ImageViews& views, Scopes& scopes) = 0;
  /// Begins a sequence of at most `capacity` tokens with the prompt; `image_rows` as in
  /// DeepseekOcr::prefill. → the last token's logits, [1, vocabulary] fp32.
  virtual at::Tensor prefill(const tokenizer::Prompt& prompt, const at::Tensor& image_rows,
                             std::int64_t capacity) = 0;
  /// One more token, [1] int64 on the device → its logits, likewise; valid until the next call.
  virtual at::Tensor decode(const at::Tensor& token) = 0;
  /// Null: tokens are chosen by the host, between the calls above.
  virtual DeviceLoop* device_loop() { return nullptr; }
  /// What happened since the last call and will not happen for every sequence, such as
  /// `graph_capture`; each name once.
  virtual std::vector<std::string> take_one_time_events() { return {}; }
};

/// The model's own operators, one after another: the reference for other engines.
class EagerEngine final : public Engine {
 public:
  /// `model` must outlive this.
  explicit EagerEngine(const DeepseekOcr& model) : model_(model) {}

  std::string_view name() const override { return "eager"; }
  const DeepseekOcr& model() const override { return model_; }
  at::Tensor encode_image(const ImageViews& views, Scopes& scopes) override;
  at::Tensor prefill(const tokenizer::Prompt& prompt, const at::Tensor& image_rows,
                     std::int64_t capacity) override;
  at::Tensor decode(const at::Tensor& token) override;

 private:
  const DeepseekOcr& model_;
  std::optional<KvCache> cache_;
};

enum class Finish { Eos, Length, Stopped };

struct Generated {
  std::vector<std::int64_t>
      ids;  ///< the first token counts; the end-of-sequence id is the last one
  Finish finish = Finish::Length;
};

/// Called with each token as soon as the host knows it: its index (from 0) and its id. With an
/// engine that has a DeviceLoop, that is some steps late.
using OnToken = std::function<void(std::size_t index, std::int64_t id)>;

/// From a picture and a prompt to tokens. Scopes: `prefill` around sam, clip, projector and lm
/// (which ends when the first token is known), then `decode` around one decode_step per further
/// token. Without a picture, `image` is null and the prompt has no slots.
///
/// An Error if the number of slots in the prompt differs from the number of rows of the picture,
/// and for anything that libtorch throws.
Result<Generated> generate(Engine& engine, const ImageViews* image, const tokenizer::Prompt& prompt,
                           const GenerationOptions& options, Scopes& scopes,
                           const OnToken& on_token = {});
/// The same from rows that `encode_image` returned earlier; undefined without a picture.
Result<Generated> generate_from_rows(Engine& engine, const at::Tensor& image_rows,
                                     const tokenizer::Prompt& prompt,
                                     const GenerationOptions& options, Scopes& scopes,
                                     const OnToken& on_token = {});

/// Both with the eager engine.
Result<Generated> generate(const DeepseekOcr& model, const ImageViews* image,
                           const tokenizer::Prompt& prompt, const GenerationOptions& options,
                           Scopes& scopes, const OnToken& on_token = {});
Result<Generated> generate_from_rows(const DeepseekOcr& model, const at::Tensor& image_rows,
                                     const tokenizer::Prompt& prompt,
                                     const GenerationOptions& options, Scopes& scopes,
                                     const OnToken& on_token = {});

}  // namespace profline::workload
