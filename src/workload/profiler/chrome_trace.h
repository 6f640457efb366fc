#pragma once

#include <filesystem>

#include "base/result.h"
#include "workload/profiler/call_tree.h"

namespace profline::workload {

/// Writes the recording as Chrome's trace format, which Perfetto and chrome://tracing open: one
/// track a thread and stream, calls nested, arrows from operators to their kernels, a counter of
/// held memory for each device. For libtorch builds that cannot write it themselves.
Result<void> write_chrome_trace(const std::filesystem::path& path, const Recording& recording,
                                const CallTree& tree);

}  // namespace profline::workload
