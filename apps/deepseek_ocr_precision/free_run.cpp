#include "free_run.h"

#include <c10/core/InferenceMode.h>

#include "inputs/tokenizer/prompt.h"
#include "workload/generation/generate.h"
#include "workload/generation/token_chooser.h"
#include "workload/model/torch_errors.h"

namespace profline::precision {
namespace {

constexpr std::uint32_t kNgramSize = 20;

/// The ids once more, one by one: the host sees each step's logits.
void follow(workload::Engine& engine, const tokenizer::Prompt& prompt,
            const std::vector<std::int64_t>& ids, const workload::GenerationOptions& options,
            FreeRun& result) {
  const c10::InferenceMode inference;
  const auto capacity = static_cast<std::int64_t>(prompt.ids.size() + ids.size());
  workload::TokenChooser chooser(options, prompt.ids);
  at::Tensor logits = engine.prefill(prompt, {}, capacity);
  for (const std::int64_t id : ids) {
    result.is_finite = result.is_finite && at::isfinite(logits).all().item<bool>();
    const workload::Choice choice = chooser.choose(logits.clone());
    if (choice.id != id) return;  // from here on the host's history is another
    ++result.hosts_too;
    logits = engine.decode(choice.token);
  }
}

}  // namespace

Result<FreeRun> free_run(workload::Engine& engine, const std::vector<std::int64_t>& prompt,
                         std::int64_t tokens) {
  const tokenizer::Prompt whole{prompt, std::vector<std::uint8_t>(prompt.size(), 0)};
  workload::GenerationOptions options;
  options.max_new_tokens = tokens;
  options.no_repeat_ngram_size = kNgramSize;
  workload::Scopes scopes;
  const auto first = PL_TRY(workload::generate_from_rows(engine, {}, whole, options, scopes));
  const auto second = PL_TRY(workload::generate_from_rows(engine, {}, whole, options, scopes));
  FreeRun result;
  result.tokens = static_cast<std::int64_t>(first.ids.size());
  result.repeats = first.ids == second.ids;
  PL_TRY(workload::catch_torch([&]() -> Result<void> {
    follow(engine, whole, first.ids, options, result);
    return {};
  }));
  return result;
}

}  // namespace profline::precision
