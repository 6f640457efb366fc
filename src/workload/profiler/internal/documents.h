#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/node.h"
#include "workload/profiler/call_tree.h"

namespace profline::workload {

/// Writes the recording in Chrome's trace format, which Perfetto and chrome://tracing open: one
/// track per thread and stream, nested calls, arrows from operators to their kernels, and a counter
/// of allocated memory per device. For libtorch builds that cannot write it themselves.
Result<void> write_chrome_trace(const std::filesystem::path& path, const Recording& recording,
                                const CallTree& tree);

// A recording as tables for people and programs.

/// All calls of one operator (or range), or those with the same shapes.
struct OperatorRow {
  std::string name;
  std::string shapes;  ///< empty unless the table is grouped by shapes
  std::uint64_t calls = 0;
  std::int64_t self_cpu_ns = 0;
  /// A call nested in another one of the same row counts as part of that one.
  std::int64_t total_cpu_ns = 0;
  std::int64_t self_device_ns = 0;
  std::int64_t total_device_ns = 0;

  bool operator==(const OperatorRow&) const = default;
};

struct OperatorTable {
  std::vector<OperatorRow> operators;  ///< most self time first, on the device, then on the host
  std::vector<OperatorRow> calls;      ///< of the CUDA runtime and driver; in the same order
  std::vector<OperatorRow> ranges;     ///< in the order in which they first began
};

OperatorTable operator_table(const Recording& recording, const CallTree& tree, bool by_shape);

/// All launches of one kernel, or copies of one kind, on one GPU.
struct DeviceRow {
  std::string name;
  int device = 0;
  std::uint64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;

  bool operator==(const DeviceRow&) const = default;
};

/// Most total time first.
std::vector<DeviceRow> kernel_table(const Recording& recording);

/// operators.json, `profline.operators/1`, and operators.md: the most important rows, with full
/// names.
Node operators_document(const OperatorTable& table, const Recording& recording);
std::string operators_markdown(const OperatorTable& table, const Recording& recording);

/// kernels.json, `profline.kernels/1`, and kernels.md. Both state `why_none` if there are no rows.
Node kernels_document(const std::vector<DeviceRow>& rows, const std::string& why_none);
std::string kernels_markdown(const std::vector<DeviceRow>& rows, const std::string& why_none);

/// memory.json, `profline.memory/1`: for each device what was allocated and freed, the peak (beyond
/// what was allocated at the start), the operators that allocated it, and every change in order.
Node memory_document(const Recording& recording, const CallTree& tree);

}  // namespace profline::workload
