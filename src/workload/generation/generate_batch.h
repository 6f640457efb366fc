#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "inputs/tokenizer/tokenizer.h"
#include "workload/generation/generate.h"
#include "workload/model/deepseek_ocr.h"

namespace profline::workload {

/// One sequence of a batch.
struct BatchedSequence {
  const ImageViews* image = nullptr;  ///< null: no picture, and the prompt has no slots
  const tokenizer::Prompt* prompt = nullptr;
  GenerationOptions options;  ///< all greedy, or all sampled
};

/// Several sequences generated together, with the model's own operators: the tokens of each are
/// those that it gets alone (up to rounding, which depends on the shape of a product). Shorter
/// prompts are padded at their beginning; a sequence that has ended is computed with the others
/// until the last one ends, and what it says then is dropped. Either all have a picture or none
/// has; pages have one side, and so have tiles.
///
/// Scopes and errors as of `generate`. A step is one token of every sequence; after it,
/// `should_stop` of the first sequence is asked.
Result<std::vector<Generated>> generate_batch(const DeepseekOcr& model,
                                              std::span<const BatchedSequence> sequences,
                                              Scopes& scopes, const OnToken& on_token = {});

}  // namespace profline::workload
