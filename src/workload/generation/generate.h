#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "inputs/tokenizer/prompt.h"
#include "workload/generation/engine.h"
#include "workload/generation/generation_options.h"
#include "workload/model/deepseek_ocr.h"
#include "workload/model/scopes.h"

namespace profline::workload {

enum class Finish { Eos, Length, Stopped };

struct Generated {
  std::vector<std::int64_t>
      ids;  ///< the first token counts; the end-of-sequence id is the last one
  Finish finish = Finish::Length;
};

/// Is told each token as soon as the host knows it: the n-th (from 0) and its id. With an engine
/// that has a DeviceLoop that is some steps late.
using OnToken = std::function<void(std::size_t index, std::int64_t id)>;

/// From a picture and a prompt to tokens. Scopes: `prefill` around sam, clip, projector and lm
/// (which ends when the first token is known), then `decode` around one decode_step a further
/// token. Without a picture `image` is null and the prompt has no slots.
///
/// An Error when the prompt has another number of slots than the picture has rows, and for what
/// libtorch throws.
Result<Generated> generate(Engine& engine, const ImageViews* image, const tokenizer::Prompt& prompt,
                           const GenerationOptions& options, Scopes& scopes,
                           const OnToken& on_token = {});
/// The same from rows that `encode_image` gave before; undefined without a picture.
Result<Generated> generate_from_rows(Engine& engine, const at::Tensor& image_rows,
                                     const tokenizer::Prompt& prompt,
                                     const GenerationOptions& options, Scopes& scopes,
                                     const OnToken& on_token = {});

/// Both by the eager engine.
Result<Generated> generate(const DeepseekOcr& model, const ImageViews* image,
                           const tokenizer::Prompt& prompt, const GenerationOptions& options,
                           Scopes& scopes, const OnToken& on_token = {});
Result<Generated> generate_from_rows(const DeepseekOcr& model, const at::Tensor& image_rows,
                                     const tokenizer::Prompt& prompt,
                                     const GenerationOptions& options, Scopes& scopes,
                                     const OnToken& on_token = {});

}  // namespace profline::workload
