#pragma once

#include <ATen/core/Tensor.h>

#include "base/result.h"
#include "inputs/tokenizer/tokenizer.h"

namespace profline::workload::internal {

/// An Error if the number of slots in the prompt differs from the number of rows of the picture
/// (undefined: none).
Result<void> check_slots(const tokenizer::Prompt& prompt, const at::Tensor& image_rows);

}  // namespace profline::workload::internal
