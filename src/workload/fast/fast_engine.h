#pragma once

#include <memory>

#include "base/result.h"
#include "workload/generation/engine.h"
#include "workload/model/deepseek_ocr.h"

namespace profline::workload {

/// The fast engine: our own CUDA kernels, replayed as graphs. `model` outlives it. An Error of kind
/// NotFound says what is missing here: a GPU that can, kernels in this build, a dtype or a shape
/// that they know.
Result<std::unique_ptr<Engine>> make_fast_engine(const DeepseekOcr& model);

}  // namespace profline::workload
