#include "workload/generation/token_chooser.h"

#include <limits>
#include <vector>

namespace profline::workload {
namespace {

at::Tensor ids_tensor(const std::vector<std::int64_t>& ids, at::Device device) {
  return at::tensor(ids, at::TensorOptions().dtype(at::kLong)).to(device);
}

}  // namespace

TokenChooser::TokenChooser(const GenerationOptions& options, std::span<const std::int64_t> prompt)
    : ngrams_(options.no_repeat_ngram_size, prompt) {
  if (options.sampling) sampler_.emplace(*options.sampling);
}

Choice TokenChooser::choose(const at::Tensor& logits) {
  const std::vector<std::int64_t> banned = ngrams_.banned();
  if (!banned.empty()) {
    logits.index_fill_(1, ids_tensor(banned, logits.device()),
                       -std::numeric_limits<double>::infinity());
  }
  Choice choice;
  if (sampler_) {
    const at::Tensor host = logits.cpu().contiguous();
    choice.id = sampler_->draw({host.data_ptr<float>(), static_cast<std::size_t>(host.numel())});
    choice.token = ids_tensor({choice.id}, logits.device());
  } else {
    choice.token = logits.argmax(-1);  // the first of equal ones
    choice.id = choice.token.item<std::int64_t>();
  }
  ngrams_.add(choice.id);
  return choice;
}

}  // namespace profline::workload
