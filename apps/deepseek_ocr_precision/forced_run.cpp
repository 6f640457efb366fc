#include "forced_run.h"

#include <c10/core/InferenceMode.h>

#include "inputs/tokenizer/prompt.h"

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

}  // namespace profline::precision
