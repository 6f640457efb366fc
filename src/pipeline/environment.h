#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "process/runner.h"
#include "records/environment.h"
#include "records/run_record.h"
#include "tools/gpu/driver.h"
#include "tools/ncu/probe.h"
#include "tools/nsys/probe.h"

namespace profline::pipeline {

/// What this machine offers to a run, asked once before anything starts, so that preflights and
/// commands are pure functions of it. What no enabled stage needs is not asked for and absent.
struct Toolbox {
  std::optional<Result<gpu::Driver>> driver;
  std::optional<Result<std::filesystem::path>> workload;  ///< profline-workload
  std::optional<Result<nsys::Installation>> nsys;
  std::optional<Result<ncu::Installation>> ncu;
};

/// What to look for, and what it is called.
struct Survey {
  /// What was asked already, to decide the device; absent: nobody needs it.
  std::optional<Result<gpu::Driver>> driver;
  bool workload = false;
  bool nsys = false;
  bool ncu = false;
  std::string nsys_program = "nsys";
  std::string ncu_program = "ncu";
  /// profline-workload as it was found; asked for only with `workload`.
  std::function<Result<std::filesystem::path>()> find_workload;
};

Toolbox survey(const Survey& survey, ProcessRunner& processes);

/// The programs that were found, absolute; one that was not asked for or not found stays as
/// `before` has it.
ToolsRecord remembered_tools(const Toolbox& tools, ToolsRecord before);

/// Looks at the machine, as far as the run is concerned: GPUs only where a driver was loaded, tools
/// only where they were asked for. What cannot be found out stays empty.
Environment look_around(const Toolbox& tools, ProcessRunner& processes);

Node to_node(const Environment& environment);

/// Fills in what `nvidia-smi --query-gpu=uuid,clocks.sm,clocks.max.sm,clocks.mem,power.limit,
/// persistence_mode --format=csv,noheader,nounits` printed, by UUID.
void add_clocks(const std::string& csv, std::vector<GpuFacts>& gpus);

}  // namespace profline::pipeline
