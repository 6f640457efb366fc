#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <ATen/ATen.h>

#include "workload/generation/generation_options.h"
#include "workload/generation/ngram_rule.h"
#include "workload/generation/sampling.h"

namespace profline::workload {

/// The next token: where the decoder wants it, and where the host can read it.
struct Choice {
  at::Tensor token;  // [1] int64 on the device
  std::int64_t id = 0;
};

/// From logits to the next token: the n-gram rule, then the likeliest or a drawn one. Greedy, the
/// choice is made on the device and one number comes back.
class TokenChooser {
 public:
  TokenChooser(const GenerationOptions& options, std::span<const std::int64_t> prompt);

  /// logits [1, vocabulary] fp32; banned ones are overwritten.
  Choice choose(const at::Tensor& logits);

 private:
  NgramRule ngrams_;
  std::optional<Sampler> sampler_;
};

}  // namespace profline::workload
