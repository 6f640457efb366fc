#include "generation_runs.h"

#include <c10/core/InferenceMode.h>

#include "inputs/tokenizer/tokenizer.h"
#include "workload/generation/generate.h"
#include "workload/generation/token_chooser.h"
#include "workload/torch_runtime.h"

namespace profline::precision {

Result<void> SameRandomWeights::fill(std::string_view name, at::Tensor destination) {
  if (destination.scalar_type() == at::kBFloat16) return random_.fill(name, destination);
  const at::Tensor rounded =
      at::empty(destination.sizes(), destination.options().dtype(at::kBFloat16));
  PL_TRY(random_.fill(name, rounded));
  destination.copy_(rounded);
  return {};
}

std::vector<Forced> random_ids(const DeepseekOcrConfig& config, std::int64_t prompts,
                               std::int64_t length, std::int64_t tokens, std::uint64_t seed) {
  at::manual_seed(seed);
  std::vector<Forced> all;
  for (std::int64_t i = 0; i < prompts; ++i) {
    const at::Tensor ids = at::randint(2, config.vocab_size, {length + tokens}, at::kLong);
    const std::int64_t* first = ids.data_ptr<std::int64_t>();
    all.push_back({{first, first + length}, {first + length, first + length + tokens}});
  }
  return all;
}

namespace {

at::Tensor logits_of(workload::Engine& engine, const Forced& ids) {
  const at::Device device = engine.model().options().device;
  const tokenizer::Prompt prompt{ids.prompt, std::vector<std::uint8_t>(ids.prompt.size(), 0)};
  const auto capacity = static_cast<std::int64_t>(ids.prompt.size() + ids.further.size());
  std::vector<at::Tensor> rows{engine.prefill(prompt, {}, capacity).cpu()};
  for (const std::int64_t id : ids.further) {
    rows.push_back(engine.decode(at::tensor({id}, at::kLong).to(device)).cpu());
  }
  return at::cat(rows);
}

}  // namespace

at::Tensor forced_logits(workload::Engine& engine, const std::vector<Forced>& ids) {
  const c10::InferenceMode inference;
  std::vector<at::Tensor> each;
  each.reserve(ids.size());
  for (const Forced& one : ids) each.push_back(logits_of(engine, one));
  return at::stack(each);
}

Distance distance(const at::Tensor& logits, const at::Tensor& reference) {
  const at::Tensor far = (logits - reference).square().sum(-1, false, at::kDouble);
  const at::Tensor size = reference.square().sum(-1, false, at::kDouble);
  const auto ratio = [&](std::int64_t first, std::int64_t rows) {
    const at::Tensor both = far.narrow(1, first, rows).sum() / size.narrow(1, first, rows).sum();
    return both.sqrt().item<double>();
  };
  const at::Tensor each = (far.sum(1) / size.sum(1)).sqrt().contiguous();
  Distance result;
  result.all = ratio(0, far.size(1));
  result.prompts = ratio(0, 1);
  result.steps = ratio(1, far.size(1) - 1);
  result.each.assign(each.data_ptr<double>(), each.data_ptr<double>() + each.numel());
  result.worst_row = (far / size).sqrt().max().item<double>();
  result.same_choice = logits.argmax(-1).eq(reference.argmax(-1)).sum().item<std::int64_t>();
  result.is_finite = at::isfinite(logits).all().item<bool>();
  return result;
}

namespace {

constexpr std::uint32_t kNgramSize = 20;

/// Replays the ids one by one, so that the host sees each step's logits.
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
    if (choice.id != id) return;  // from here on the host's history differs
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
