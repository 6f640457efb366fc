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
#include "workloads/program/environment.h"

namespace profline::pipeline {

/// What this machine offers to a run, determined once before anything starts, so that preflights
/// and commands are pure functions of it. What no enabled stage needs is not determined and stays
/// absent.
struct Toolbox {
  std::optional<Result<gpu::Driver>> driver;
  std::optional<Result<std::filesystem::path>> workload;  ///< profline-workload
  std::optional<Result<nsys::Installation>> nsys;
  std::optional<Result<ncu::Installation>> ncu;
  program::Companions companions{};  ///< what a user's program loads
  std::filesystem::path profline{};  ///< this program, which launchers start for each rank
};

/// What to look for, and under which names.
struct Survey {
  /// Already loaded to decide the device; absent: not needed.
  std::optional<Result<gpu::Driver>> driver;
  bool workload = false;
  bool nsys = false;
  bool ncu = false;
  std::string nsys_program = "nsys";
  std::string ncu_program = "ncu";
  /// This program, if what is installed with it is needed for a user's program; else empty.
  std::filesystem::path executable{};
  /// Finds profline-workload; called only if `workload` is set.
  std::function<Result<std::filesystem::path>()> find_workload;
};

Toolbox survey(const Survey& survey, ProcessRunner& processes);

/// The absolute paths of the programs that were found; one that was not looked for or not found
/// stays as in `before`.
ToolsRecord remembered_tools(const Toolbox& tools, ToolsRecord before);

/// Describes the machine as far as it concerns the run: GPUs only if a driver was loaded, tools
/// only if they were requested. What cannot be determined stays empty.
Environment look_around(const Toolbox& tools, ProcessRunner& processes);

/// The name of this machine's processor; empty: it is not known.
std::string cpu_model();

Node to_node(const Environment& environment);

/// Fills in, by UUID, the output of `nvidia-smi
/// --query-gpu=uuid,clocks.sm,clocks.max.sm,clocks.mem,power.limit,persistence_mode
/// --format=csv,noheader,nounits`.
void add_clocks(const std::string& csv, std::vector<GpuFacts>& gpus);

}  // namespace profline::pipeline
