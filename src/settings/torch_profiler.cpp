#include "settings/torch_profiler.h"

namespace profline::settings {

Checks validate(const TorchProfiler& profiler) {
  Checks checks;
  if (profiler.enable != Enable::No && profiler.activities.empty()) {
    checks.fail(profiler.activities, "must name cpu, cuda or both");
  }
  if (profiler.group_by_input_shape && !profiler.record_shapes) {
    checks.fail(profiler.group_by_input_shape, "needs record_shapes=true");
  }
  return checks;
}

}  // namespace profline::settings
