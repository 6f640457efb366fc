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

/// Which kernels `profline kernels top` was asked for.
struct TopKernelsWish {
  enum class Order { Share, Time };

  /// An SQLite export of nsys, a kernel summary of `nsys stats` as CSV, a .nsys-rep, which needs
  /// nsys, or a Kineto trace.
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

/// What a report says of its kernels, first what is most.
struct TopKernels {
  std::string tool;
  std::vector<TopKernel> kernels;
  Reading reading;
  bool is_trace = false;  ///< names are spelled as Kineto does, which is not how ncu does
};

/// An empty list of kernels is no Error: `reading` says what was in the report instead.
Result<TopKernels> read_top_kernels(const TopKernelsWish& wish, ProcessRunner& processes);

/// What finds the kernel among those that ncu sees: its name exactly, or of a trace by what both
/// spellings have in common.
std::string regex_of(const TopKernel& kernel, const TopKernels& top);

}  // namespace profline::trace_report
