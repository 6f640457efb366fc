#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/workload.h"
#include "workload/generation/generate.h"
#include "workload/model/deepseek_ocr.h"

namespace profline::workload {

/// The fast engine: our own CUDA kernels, replayed as graphs. `model` outlives it. An Error of kind
/// NotFound says what is missing here: a GPU that can, kernels in this build, a dtype or a shape
/// that they know.
Result<std::unique_ptr<Engine>> make_fast_engine(const DeepseekOcr& model);

struct OpenedEngine {
  std::unique_ptr<Engine> engine;
  std::vector<std::string> notes;  ///< why `auto` is eager on a GPU
};

/// The engine of `pipeline.workload.engine`. Auto: the fast one where it can run, else eager; fast
/// that cannot run is an Error of kind NotFound. `model` outlives the engine.
Result<OpenedEngine> open_engine(const DeepseekOcr& model, settings::Engine engine);

}  // namespace profline::workload
