#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/pipeline.h"
#include "workload/generation/generate.h"
#include "workload/model/deepseek_ocr.h"

namespace profline::workload {

/// The fast engine: our own CUDA kernels, replayed as graphs. `model` must outlive it. An Error of
/// kind NotFound says what is missing: a suitable GPU, kernels in this build, or support for the
/// dtype or shape.
Result<std::unique_ptr<Engine>> make_fast_engine(const DeepseekOcr& model);

struct OpenedEngine {
  std::unique_ptr<Engine> engine;
  std::vector<std::string> notes;  ///< why `auto` is eager on a GPU
};

/// The engine of `pipeline.workload.engine` for batches of up to `batch_size` images. Auto: fast if
/// it can run, else eager; if fast is requested and cannot run, an Error of kind NotFound. Fast
/// runs one image at a time. `model` must outlive the engine.
Result<OpenedEngine> open_engine(const DeepseekOcr& model, settings::Engine engine,
                                 std::uint32_t batch_size = 1);

}  // namespace profline::workload
