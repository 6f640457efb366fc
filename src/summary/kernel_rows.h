#pragma once

#include <vector>

#include "analysis/judgement/evidence.h"
#include "records/run_summary.h"
#include "summary/run_artifacts.h"

namespace profline::summary {

struct KernelRows {
  std::vector<SummaryKernel> kernels;  ///< most time first
  SummaryJoin join;
};

/// One row a kernel and launch shape, from whichever of nsys, ncu and the torch profiler saw it.
/// Times are nsys', else the torch profiler's; a kernel that two tools may mean differently is not
/// joined, and its row says so.
KernelRows kernel_rows(const RunArtifacts& run);

/// Kernel time of a stage by what its kernels' counters say; nothing without counters.
std::optional<judgement::KernelBounds> bounds_of(const KernelRows& rows, std::string_view stage);

}  // namespace profline::summary
