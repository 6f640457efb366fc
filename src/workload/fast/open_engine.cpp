#include "workload/fast/open_engine.h"

#include <utility>

namespace profline::workload {

Result<OpenedEngine> open_engine(const DeepseekOcr& model, settings::Engine engine) {
  OpenedEngine opened;
  if (engine != settings::Engine::Eager) {
    auto fast = make_fast_engine(model);
    if (fast) {
      opened.engine = std::move(*fast);
      return opened;
    }
    if (engine == settings::Engine::Fast) {
      return std::move(fast).error().during("pipeline.workload.engine");
    }
    // On a CPU no other engine is expected.
    if (model.options().device.is_cuda()) {
      opened.notes.push_back("engine: eager, because " + fast.error().message());
    }
  }
  opened.engine = std::make_unique<EagerEngine>(model);
  return opened;
}

}  // namespace profline::workload
