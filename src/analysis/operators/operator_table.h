#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/timeline.h"
#include "records/torch_tables.h"

/// The time of a framework's operators, on the host and on the devices.
namespace profline::operators {

struct OperatorRow {
  Names::Id name = 0;
  Names::Id input_shapes = 0;  ///< if rows are split by input shapes
  std::uint64_t calls = 0;
  /// Total time; an operator nested in one of the same row is not counted again.
  std::int64_t total_ns = 0;
  /// Self time, without nested operators: over all rows each instant of a thread counts once.
  std::int64_t self_ns = 0;
  std::int64_t device_ns = 0;       ///< of the work launched in it and in nested operators
  std::int64_t self_device_ns = 0;  ///< of the work launched in it alone
  std::uint64_t launched = 0;       ///< pieces of that work

  bool operator==(const OperatorRow&) const = default;
};

/// The column that rows are sorted by, largest first.
enum class OperatorOrder : std::uint8_t { Self, Total, SelfDevice, Device, Calls };

struct OperatorTable {
  std::vector<OperatorRow> rows;  ///< in the requested order; ties by self time and name
  std::int64_t self_ns = 0;       ///< of all: time in which a thread was in an operator
  std::int64_t self_device_ns = 0;
  std::uint64_t calls = 0;
};

struct OperatorTableOptions {
  bool by_shape = false;
  OperatorOrder order = OperatorOrder::Self;
  /// Only operators that begin inside a range that matches this (timeline::matches_range()) on
  /// their thread.
  std::optional<std::string> inside = {};
};

/// One sweep with a stack per thread. An operator that outlasts its parent counts there only until
/// the parent ends.
OperatorTable operator_table(const Timeline& timeline, const OperatorTableOptions& options = {});

/// The tables that the built-in workload writes from its own recording, computed from a trace:
/// operators, calls of the CUDA runtime and driver, and ranges. Each instant of a thread counts as
/// self time of the innermost of them; work counts for the operator, or else the range, that
/// launched it.
TorchOperators torch_operators(const Timeline& trace, bool by_shape);

/// Kernels, copies and fills by name and device, most total time first.
std::vector<TorchKernel> torch_kernels(const Timeline& trace);

}  // namespace profline::operators
