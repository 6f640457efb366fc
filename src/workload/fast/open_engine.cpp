#include "workload/fast/open_engine.h"

#include <string>
#include <utility>

namespace profline::workload {

namespace {

Result<std::unique_ptr<Engine>> make_fast_engine(const DeepseekOcr& model,
                                                 std::uint32_t batch_size) {
  if (batch_size == 1) return make_fast_engine(model);
  return Error(ErrorKind::NotFound,
               "the fast engine cannot run: it generates one image at a time, and "
               "infer.batch_size is " +
                   std::to_string(batch_size));
}

}  // namespace

Result<OpenedEngine> open_engine(const DeepseekOcr& model, settings::Engine engine,
                                 std::uint32_t batch_size) {
  OpenedEngine opened;
  if (engine != settings::Engine::Eager) {
    auto fast = make_fast_engine(model, batch_size);
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
