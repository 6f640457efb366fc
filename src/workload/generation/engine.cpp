#include "workload/generation/engine.h"

#include "base/assert.h"

namespace profline::workload {

at::Tensor EagerEngine::encode_image(const ImageViews& views, Scopes& scopes) {
  return model_.encode_image(views, scopes);
}

at::Tensor EagerEngine::prefill(const tokenizer::Prompt& prompt, const at::Tensor& image_rows,
                                std::int64_t capacity) {
  cache_.reset();  // before the next is made: there is room for one
  cache_.emplace(model_.new_cache(capacity));
  return model_.prefill(prompt.ids, prompt.is_image, image_rows, *cache_);
}

at::Tensor EagerEngine::decode(const at::Tensor& token) {
  PL_ASSERT(cache_.has_value(), "a prompt came before");
  return model_.decode(token, *cache_);
}

}  // namespace profline::workload
