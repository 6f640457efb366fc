#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/pipeline.h"
#include "workload/profiler/call_tree.h"

namespace profline::workload {

/// What libtorch's profiler is told.
struct RecordOptions {
  bool cuda = false;  ///< kernels too; only where there is a GPU
  bool shapes = false;
  bool memory = false;
  bool stacks = false;
};

struct Recorded {
  Recording recording;
  bool has_trace = false;  ///< libtorch wrote the Chrome trace itself
  bool has_stacks = false;
};

/// Runs `work` under libtorch's profiler. Where libtorch has Kineto, its Chrome trace goes to
/// `trace`; else nothing is written there. The Error is that of the work, or what the profiler
/// threw.
Result<Recorded> record(const RecordOptions& options, const std::filesystem::path& trace,
                        const std::function<Result<void>()>& work);

/// Does with `work` all that `pipeline.torch_profiler` asks for: records it, and writes trace.json,
/// operators.{md,json}, kernels.{md,json} and, with profile_memory, memory.json into the folder.
/// Returns what the user should know of it: what was asked for and could not be had.
Result<std::vector<std::string>> write_torch_profile(const settings::TorchProfiler& settings,
                                                     bool on_gpu,
                                                     const std::filesystem::path& folder,
                                                     const std::function<Result<void>()>& work);

}  // namespace profline::workload
