#include "workload/generation/generate.h"

#include <algorithm>
#include <string>

#include <c10/core/InferenceMode.h>

#include "workload/generation/token_chooser.h"
#include "workload/model/torch_errors.h"

namespace profline::workload {
namespace {

Result<void> check_slots(const tokenizer::Prompt& prompt, const at::Tensor& image_rows) {
  const auto slots = std::count_if(prompt.is_image.begin(), prompt.is_image.end(),
                                   [](std::uint8_t is_image) { return is_image != 0; });
  const std::int64_t rows = image_rows.defined() ? image_rows.size(0) : 0;
  if (slots == rows) return {};
  return Error(ErrorKind::Config, "the prompt has " + std::to_string(slots) +
                                      " image slots, the picture gives " + std::to_string(rows) +
                                      " rows");
}

/// One run: what was generated so far, and what the next token follows from.
class Run {
 public:
  Run(const DeepseekOcr& model, const tokenizer::Prompt& prompt, const GenerationOptions& options,
      const OnToken& on_token)
      : model_(model),
        prompt_(prompt),
        options_(options),
        on_token_(on_token),
        chooser_(options, prompt.ids),
        cache_(model.new_cache(static_cast<std::int64_t>(prompt.ids.size()) +
                               options.max_new_tokens)) {}

  void prefill(const at::Tensor& image_rows, Scopes& scopes) {
    const Scope scope(scopes, scope::kLm);
    last_ = chooser_.choose(model_.prefill(prompt_.ids, prompt_.is_image, image_rows, cache_));
  }

  Generated decode(Scopes& scopes) {
    const Scope scope(scopes, scope::kDecode);
    keep_last();
    while (!is_done()) {
      {
        const Scope step(scopes, scope::kDecodeStep);
        last_ = chooser_.choose(model_.decode(last_.token, cache_));
      }
      keep_last();
    }
    return std::move(generated_);
  }

 private:
  void keep_last() {
    generated_.ids.push_back(last_.id);
    if (options_.eos_id == last_.id) generated_.finish = Finish::Eos;
    if (on_token_) on_token_(generated_.ids.size() - 1, last_.id);
    const bool goes_on = generated_.finish != Finish::Eos;
    if (goes_on && options_.should_stop && options_.should_stop()) {
      generated_.finish = Finish::Stopped;
    }
  }
  bool is_done() const {
    return generated_.finish != Finish::Length ||
           static_cast<std::int64_t>(generated_.ids.size()) >= options_.max_new_tokens;
  }

  const DeepseekOcr& model_;
  const tokenizer::Prompt& prompt_;
  const GenerationOptions& options_;
  const OnToken& on_token_;
  TokenChooser chooser_;
  KvCache cache_;
  Choice last_;
  Generated generated_;
};

template <typename Rows>
Result<Generated> run(const DeepseekOcr& model, const Rows& image_rows,
                      const tokenizer::Prompt& prompt, const GenerationOptions& options,
                      Scopes& scopes, const OnToken& on_token) {
  return catch_torch([&]() -> Result<Generated> {
    const c10::InferenceMode inference;
    Run generation(model, prompt, options, on_token);
    {
      const Scope scope(scopes, scope::kPrefill);
      const at::Tensor rows = image_rows();
      PL_TRY(check_slots(prompt, rows));
      generation.prefill(rows, scopes);
    }
    return generation.decode(scopes);
  });
}

}  // namespace

Result<Generated> generate(const DeepseekOcr& model, const ImageViews* image,
                           const tokenizer::Prompt& prompt, const GenerationOptions& options,
                           Scopes& scopes, const OnToken& on_token) {
  const auto encode = [&] {
    return image == nullptr ? at::Tensor() : model.encode_image(*image, scopes);
  };
  return run(model, encode, prompt, options, scopes, on_token);
}

Result<Generated> generate_from_rows(const DeepseekOcr& model, const at::Tensor& image_rows,
                                     const tokenizer::Prompt& prompt,
                                     const GenerationOptions& options, Scopes& scopes,
                                     const OnToken& on_token) {
  return run(
      model, [&] { return image_rows; }, prompt, options, scopes, on_token);
}

}  // namespace profline::workload
