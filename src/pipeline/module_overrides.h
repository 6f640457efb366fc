#pragma once

#include <string>
#include <vector>

#include "pipeline/workload_command.h"

namespace profline::pipeline {

/// The Hydra overrides that a module of `pipeline.workload.module` is started with, so that it runs
/// what the built-in workload would: device, paths, tokens, sampling, profiling off, and a run
/// folder of its own below the stage's. Only keys that the config has; paths are absolute.
std::vector<std::string> module_overrides(const RunSetup& setup, const WorkloadRun& run);

}  // namespace profline::pipeline
