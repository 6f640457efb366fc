#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/kernels/canonical_name.h"
#include "analysis/kernels/classify.h"
#include "analysis/operators/operator_table.h"
#include "analysis/timeline/accounting.h"
#include "analysis/timeline/collectives.h"
#include "analysis/timeline/kernel_table.h"
#include "analysis/timeline/transfers.h"
#include "base/result.h"
#include "records/timeline.h"

namespace profline {

/// One kernel by its identity, whichever names and shapes it was launched with.
struct TraceKernel {
  kernels::CanonicalName name;
  std::string kernel_class;
  std::uint64_t instances = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;

  struct Shape {
    std::optional<LaunchShape> shape;  ///< none: the capture does not say
    std::uint64_t instances = 0;
    std::int64_t total_ns = 0;
  };
  std::vector<Shape> shapes;  ///< most time first

  /// What of the kernel an operator launched: the innermost one around the launch.
  struct Launcher {
    Names::Id op = 0;  ///< 0: launched in no operator, or without a record of the launch
    std::uint64_t instances = 0;
    std::int64_t total_ns = 0;
  };
  std::vector<Launcher> launchers;  ///< most time first

  double mean_ns() const { return static_cast<double>(total_ns) / static_cast<double>(instances); }
};

struct TraceClass {
  std::string name;
  std::uint64_t instances = 0;
  std::int64_t total_ns = 0;
};

/// Host calls that launch, and the kernels that ran: a CUDA graph is one call and many kernels.
struct TraceLaunches {
  std::uint64_t calls = 0;
  std::uint64_t graph_calls = 0;    ///< of `calls`: those that launch a CUDA graph
  std::uint64_t kernels = 0;        ///< that ran
  std::uint64_t graph_kernels = 0;  ///< of `kernels`: those that a graph launched
};

/// All that `profline trace` reports about one capture.
struct TraceReport {
  const Timeline* timeline = nullptr;
  std::optional<std::string> range;  ///< only what happened in the ranges that it names
  timeline::Accounting accounting;
  operators::OperatorTable operators;
  operators::OperatorOrder operator_order = operators::OperatorOrder::Self;
  TraceLaunches launches;                     ///< of the whole capture
  std::vector<TraceKernel> kernels;           ///< most time first
  std::vector<TraceClass> classes;            ///< most time first
  std::vector<timeline::TransferRow> copies;  ///< and fills; most time first
  std::vector<timeline::CollectiveRow> collectives;
  std::uint64_t copy_instances = 0;  ///< copies and fills, in ranges or not
  std::int64_t kernel_ns = 0;
  std::uint64_t kernel_instances = 0;

  /// Of all that `range` names; none without it.
  const timeline::RangeAccount* range_account() const {
    return accounting.focus ? &*accounting.focus : nullptr;
  }
};

struct TraceReportOptions {
  std::optional<std::string> range = {};
  operators::OperatorOrder operator_order = operators::OperatorOrder::Self;
};

/// The timeline must outlive the report. An Error that lists the ranges there are when none is
/// named by `options.range`, a name or a glob.
Result<TraceReport> trace_report(const Timeline& timeline, const kernels::Classifier& classes,
                                 const TraceReportOptions& options);

}  // namespace profline
