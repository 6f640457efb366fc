#include "workload/generation/generate_batch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <c10/core/InferenceMode.h>

#include "base/error.h"
#include "workload/generation/internal/slots.h"
#include "workload/generation/token_chooser.h"
#include "workload/torch_runtime.h"

namespace profline::workload {
namespace {

/// What each sequence has generated so far, and what the next tokens depend on.
class BatchRun {
 public:
  BatchRun(const DeepseekOcr& model, std::span<const BatchedSequence> sequences,
           const OnToken& on_token)
      : model_(model),
        sequences_(sequences),
        on_token_(on_token),
        generated_(sequences.size()),
        is_done_(sequences.size(), false) {
    for (const BatchedSequence& one : sequences)
      choosers_.emplace_back(one.options, one.prompt->ids);
  }

  Result<void> prefill(Scopes& scopes) {
    const Scope scope(scopes, scope::kPrefill);
    std::vector<at::Tensor> rows(sequences_.size());
    if (sequences_.front().image != nullptr) {
      std::vector<const ImageViews*> pictures;
      for (const BatchedSequence& one : sequences_) pictures.push_back(one.image);
      rows = model_.encode_images(pictures, scopes);
    }
    std::vector<FilledPrompt> prompts;
    std::int64_t longest = 0;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      const tokenizer::Prompt& prompt = *sequences_[i].prompt;
      PL_TRY(internal::check_slots(prompt, rows[i]));
      prompts.push_back({prompt.ids, prompt.is_image, rows[i]});
      longest = std::max(longest, static_cast<std::int64_t>(prompt.ids.size()));
      most = std::max(most, sequences_[i].options.max_new_tokens);
    }
    const Scope lm(scopes, scope::kLm);
    cache_.emplace(model_.new_cache(longest + most, static_cast<std::int64_t>(sequences_.size())));
    last_ = TokenChooser::choose_each(choosers_, model_.prefill(prompts, *cache_));
    return {};
  }

  std::vector<Generated> decode(Scopes& scopes) {
    const Scope scope(scopes, scope::kDecode);
    keep();
    while (!is_over()) {
      {
        const Scope step(scopes, scope::kDecodeStep);
        last_ = TokenChooser::choose_each(choosers_, model_.decode(last_.tokens, *cache_));
      }
      keep();
    }
    return std::move(generated_);
  }

 private:
  void keep() {
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      if (is_done_[i]) continue;
      Generated& generated = generated_[i];
      const GenerationOptions& options = sequences_[i].options;
      generated.ids.push_back(last_.ids[i]);
      if (options.eos_id == last_.ids[i]) generated.finish = Finish::Eos;
      if (on_token_) on_token_(generated.ids.size() - 1, last_.ids[i]);
      is_done_[i] = generated.finish != Finish::Length ||
                    static_cast<std::int64_t>(generated.ids.size()) >= options.max_new_tokens;
    }
    if (is_over()) return;
    const auto& should_stop = sequences_.front().options.should_stop;
    if (should_stop && should_stop()) stop();
  }
  void stop() {
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      if (!is_done_[i]) generated_[i].finish = Finish::Stopped;
      is_done_[i] = true;
    }
  }
  bool is_over() const {
    return std::all_of(is_done_.begin(), is_done_.end(), [](bool is_done) { return is_done; });
  }

  const DeepseekOcr& model_;
  std::span<const BatchedSequence> sequences_;
  const OnToken& on_token_;
  std::vector<TokenChooser> choosers_;
  std::optional<KvCache> cache_;
  Choices last_;
  std::vector<Generated> generated_;
  std::vector<bool> is_done_;
};

}  // namespace

Result<std::vector<Generated>> generate_batch(const DeepseekOcr& model,
                                              std::span<const BatchedSequence> sequences,
                                              Scopes& scopes, const OnToken& on_token) {
  PL_ASSERT(!sequences.empty(), "a batch has a sequence");
  return catch_torch([&]() -> Result<std::vector<Generated>> {
    const c10::InferenceMode inference;
    BatchRun run(model, sequences, on_token);
    PL_TRY(run.prefill(scopes));
    return run.decode(scopes);
  });
}

}  // namespace profline::workload
