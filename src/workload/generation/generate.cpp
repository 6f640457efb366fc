#include "workload/generation/generate.h"

#include <algorithm>
#include <string>

#include <c10/core/InferenceMode.h>

#include "base/error.h"
#include "base/figures.h"
#include "workload/generation/internal/slots.h"
#include "workload/generation/token_chooser.h"
#include "workload/torch_runtime.h"

namespace profline::workload {

at::Tensor EagerEngine::encode_image(const ImageViews& views, Scopes& scopes) {
  return model_.encode_image(views, scopes);
}

at::Tensor EagerEngine::prefill(const tokenizer::Prompt& prompt, const at::Tensor& image_rows,
                                std::int64_t capacity) {
  cache_.reset();  // before the next is created: there is room for only one
  cache_.emplace(model_.new_cache(capacity));
  return model_.prefill(prompt.ids, prompt.is_image, image_rows, *cache_);
}

at::Tensor EagerEngine::decode(const at::Tensor& token) {
  PL_ASSERT(cache_.has_value(), "a prompt came before");
  return model_.decode(token, *cache_);
}

Result<void> internal::check_slots(const tokenizer::Prompt& prompt, const at::Tensor& image_rows) {
  const auto slots = std::count_if(prompt.is_image.begin(), prompt.is_image.end(),
                                   [](std::uint8_t is_image) { return is_image != 0; });
  const std::int64_t rows = image_rows.defined() ? image_rows.size(0) : 0;
  if (slots == rows) return {};
  return Error(ErrorKind::Config,
               "the prompt has " + counted(static_cast<std::uint64_t>(slots), "image slot") +
                   ", the image gives " + counted(static_cast<std::uint64_t>(rows), "row"));
}

namespace {

/// One run: the tokens generated so far, and what the next one depends on.
class Run {
 public:
  Run(Engine& engine, const tokenizer::Prompt& prompt, const GenerationOptions& options,
      const OnToken& on_token)
      : engine_(engine),
        prompt_(prompt),
        options_(options),
        on_token_(on_token),
        loop_(options.sampling ? nullptr : engine.device_loop()),
        chooser_(options, prompt.ids) {}

  void prefill(const at::Tensor& image_rows, Scopes& scopes) {
    const Scope scope(scopes, scope::kLm);
    const auto capacity = static_cast<std::int64_t>(prompt_.ids.size()) + options_.max_new_tokens;
    const at::Tensor logits = engine_.prefill(prompt_, image_rows, capacity);
    if (loop_ != nullptr) {
      last_.id = loop_->first(prompt_.ids, logits, options_);
    } else {
      last_ = chooser_.choose(logits);
    }
  }

  Generated decode(Scopes& scopes) {
    const Scope scope(scopes, scope::kDecode);
    keep(last_.id);
    if (loop_ != nullptr) {
      if (!is_done()) {
        loop_->run(options_.max_new_tokens - 1, scopes, [&](std::int64_t id) {
          keep(id);
          return !is_done();
        });
      }
      return std::move(generated_);
    }
    while (!is_done()) {
      {
        const Scope step(scopes, scope::kDecodeStep);
        last_ = chooser_.choose(engine_.decode(last_.token));
      }
      keep(last_.id);
    }
    return std::move(generated_);
  }

 private:
  void keep(std::int64_t id) {
    generated_.ids.push_back(id);
    if (options_.eos_id == id) generated_.finish = Finish::Eos;
    if (on_token_) on_token_(generated_.ids.size() - 1, id);
    const bool goes_on = generated_.finish != Finish::Eos;
    if (goes_on && options_.should_stop && options_.should_stop()) {
      generated_.finish = Finish::Stopped;
    }
  }
  bool is_done() const {
    return generated_.finish != Finish::Length ||
           static_cast<std::int64_t>(generated_.ids.size()) >= options_.max_new_tokens;
  }

  Engine& engine_;
  const tokenizer::Prompt& prompt_;
  const GenerationOptions& options_;
  const OnToken& on_token_;
  DeviceLoop* loop_;
  TokenChooser chooser_;
  Choice last_;
  Generated generated_;
};

template <typename Rows>
Result<Generated> run(Engine& engine, const Rows& image_rows, const tokenizer::Prompt& prompt,
                      const GenerationOptions& options, Scopes& scopes, const OnToken& on_token) {
  return catch_torch([&]() -> Result<Generated> {
    const c10::InferenceMode inference;
    Run generation(engine, prompt, options, on_token);
    {
      const Scope scope(scopes, scope::kPrefill);
      const at::Tensor rows = image_rows();
      PL_TRY(internal::check_slots(prompt, rows));
      generation.prefill(rows, scopes);
    }
    return generation.decode(scopes);
  });
}

}  // namespace

Result<Generated> generate(Engine& engine, const ImageViews* image, const tokenizer::Prompt& prompt,
                           const GenerationOptions& options, Scopes& scopes,
                           const OnToken& on_token) {
  const auto encode = [&] {
    return image == nullptr ? at::Tensor() : engine.encode_image(*image, scopes);
  };
  return run(engine, encode, prompt, options, scopes, on_token);
}

Result<Generated> generate_from_rows(Engine& engine, const at::Tensor& image_rows,
                                     const tokenizer::Prompt& prompt,
                                     const GenerationOptions& options, Scopes& scopes,
                                     const OnToken& on_token) {
  return run(
      engine, [&] { return image_rows; }, prompt, options, scopes, on_token);
}

Result<Generated> generate(const DeepseekOcr& model, const ImageViews* image,
                           const tokenizer::Prompt& prompt, const GenerationOptions& options,
                           Scopes& scopes, const OnToken& on_token) {
  EagerEngine engine(model);
  return generate(engine, image, prompt, options, scopes, on_token);
}

Result<Generated> generate_from_rows(const DeepseekOcr& model, const at::Tensor& image_rows,
                                     const tokenizer::Prompt& prompt,
                                     const GenerationOptions& options, Scopes& scopes,
                                     const OnToken& on_token) {
  EagerEngine engine(model);
  return generate_from_rows(engine, image_rows, prompt, options, scopes, on_token);
}

}  // namespace profline::workload
