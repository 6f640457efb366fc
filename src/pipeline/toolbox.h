#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
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

}  // namespace profline::pipeline
