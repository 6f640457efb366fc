#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/kernels/canonical_name.h"
#include "analysis/kernels/classify.h"
#include "analysis/operators/operator_table.h"
#include "analysis/timeline/accounting.h"
#include "analysis/timeline/kernel_table.h"
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

  double mean_ns() const { return static_cast<double>(total_ns) / static_cast<double>(instances); }
};

struct TraceClass {
  std::string name;
  std::uint64_t instances = 0;
  std::int64_t total_ns = 0;
};

/// All that `profline trace` tells of one capture.
struct TraceReport {
  const Timeline* timeline = nullptr;
  std::optional<std::string> range;  ///< only what happened in it
  timeline::Accounting accounting;
  const timeline::RangeAccount* range_account = nullptr;  ///< of `range`, in `accounting`
  operators::OperatorTable operators;
  std::vector<TraceKernel> kernels;  ///< most time first
  std::vector<TraceClass> classes;   ///< most time first
  timeline::KernelTable copies;
  std::int64_t kernel_ns = 0;
  std::uint64_t kernel_instances = 0;
};

struct TraceReportOptions {
  std::optional<std::string> range = {};
};

/// The timeline must outlive the report. An Error when there is no such range.
Result<TraceReport> trace_report(const Timeline& timeline, const kernels::Classifier& classes,
                                 const TraceReportOptions& options);

}  // namespace profline
