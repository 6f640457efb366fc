#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/runner.h"
#include "records/timeline.h"

namespace profline::trace_report {

/// The kernels requested from `profline kernels top`.
struct TopKernelsQuery {
  enum class Order { Share, Time };

  /// An SQLite export of nsys, a CSV kernel summary of `nsys stats`, a .nsys-rep (which needs
  /// nsys), or a Kineto trace.
  std::filesystem::path report;
  std::optional<std::string> range{};  ///< only kernels launched in ranges of this name
  Order order = Order::Share;
  std::string nsys = "nsys";
};

struct TopKernel {
  std::string name;
  std::optional<double> time_percent{};
  std::optional<std::int64_t> total_ns{};
  std::uint64_t instances = 0;
};

/// The kernels of a report, largest first.
struct TopKernels {
  std::string tool;
  std::vector<TopKernel> kernels;
  Reading reading;
  bool is_trace = false;  ///< names are spelled as Kineto does, unlike ncu
};

/// An empty list of kernels is not an Error: `reading` says what was in the report instead.
Result<TopKernels> read_top_kernels(const TopKernelsQuery& query, ProcessRunner& processes);

/// A regular expression that finds the kernel in ncu: its exact name or, for a trace, what both
/// spellings have in common.
std::string regex_of(const TopKernel& kernel, const TopKernels& top);

}  // namespace profline::trace_report
