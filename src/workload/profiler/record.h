#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/pipeline.h"
#include "workload/profiler/call_tree.h"

namespace profline::workload {

/// The options of libtorch's profiler.
struct RecordOptions {
  bool cuda = false;  ///< also kernels; only with a GPU
  bool shapes = false;
  bool memory = false;
  bool stacks = false;
};

struct Recorded {
  Recording recording;
  bool has_trace = false;  ///< libtorch wrote the Chrome trace itself
  bool has_stacks = false;
};

/// Runs `work` under libtorch's profiler. If libtorch has Kineto, its Chrome trace goes to `trace`;
/// otherwise nothing is written there. The Error is that of the work, or what the profiler threw.
Result<Recorded> record(const RecordOptions& options, const std::filesystem::path& trace,
                        const std::function<Result<void>()>& work);

/// Runs `work` as `pipeline.torch_profiler` configures: records it, and writes trace.json,
/// operators.{md,json}, kernels.{md,json} and, with profile_memory, memory.json into the folder.
/// Returns what the user should know: what was requested but not available.
Result<std::vector<std::string>> write_torch_profile(const settings::TorchProfiler& settings,
                                                     bool on_gpu,
                                                     const std::filesystem::path& folder,
                                                     const std::function<Result<void>()>& work);

}  // namespace profline::workload
