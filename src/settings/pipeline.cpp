#include "settings/pipeline.h"

#include "base/strings.h"
#include "settings/workload.h"

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

std::optional<std::vector<std::string>> Workload::user_command() const {
  if (command) return command;
  if (!module || trim(*module).empty()) return std::nullopt;
  return std::vector<std::string>{"python3", "-m", std::string(trim(*module))};
}

Checks validate(const Workload& workload) {
  Checks checks;
  if (workload.command && (workload.command->empty() || workload.command->front().empty())) {
    checks.fail(workload.command, "must begin with a program, or be null");
  }
  if (workload.command && workload.module && !trim(*workload.module).empty()) {
    checks.fail(workload.module, "must be null when command is given: one program is profiled");
  }
  return checks;
}

}  // namespace profline::settings
