#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "records/torch_tables.h"
#include "workload/profiler/call_tree.h"

namespace profline::workload {

/// Writes the recording in Chrome's trace format, which Perfetto and chrome://tracing open: one
/// track per thread and stream, nested calls, arrows from operators to their kernels, and a counter
/// of allocated memory per device. For libtorch builds that cannot write it themselves.
Result<void> write_chrome_trace(const std::filesystem::path& path, const Recording& recording,
                                const CallTree& tree);

// A recording as tables for people and programs.

/// Its operators, calls of the CUDA runtime and driver, and ranges, the latter in the order in
/// which they first began.
TorchOperators operator_table(const Recording& recording, const CallTree& tree, bool by_shape);

/// Most total time first.
std::vector<TorchKernel> kernel_table(const Recording& recording);

/// memory.json, `profline.memory/1`: for each device what was allocated and freed, the peak (beyond
/// what was allocated at the start), the operators that allocated it, and every change in order.
Node memory_document(const Recording& recording, const CallTree& tree);

}  // namespace profline::workload
