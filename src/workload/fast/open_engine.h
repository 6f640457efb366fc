#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/workload.h"
#include "workload/generation/engine.h"

namespace profline::workload {

struct OpenedEngine {
  std::unique_ptr<Engine> engine;
  std::vector<std::string> notes;  ///< why `auto` is eager on a GPU
};

/// The engine of `pipeline.workload.engine`. Auto: the fast one where it can run, else eager; fast
/// that cannot run is an Error of kind NotFound. `model` outlives the engine.
Result<OpenedEngine> open_engine(const DeepseekOcr& model, settings::Engine engine);

}  // namespace profline::workload
