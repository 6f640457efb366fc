#pragma once

#include <string>

#include "pipeline/toolbox.h"
#include "process/runner.h"
#include "records/environment.h"

namespace profline::pipeline {

/// Looks at the machine, as far as the run is concerned: GPUs only where a driver was loaded, tools
/// only where they were asked for. What cannot be found out stays empty.
Environment look_around(const Toolbox& tools, ProcessRunner& processes);

Node to_node(const Environment& environment);

/// Fills in what `nvidia-smi --query-gpu=uuid,clocks.sm,clocks.max.sm,clocks.mem,power.limit,
/// persistence_mode --format=csv,noheader,nounits` printed, by UUID.
void add_clocks(const std::string& csv, std::vector<GpuFacts>& gpus);

}  // namespace profline::pipeline
