#pragma once

#include <vector>

#include "analysis/judgement/judge.h"
#include "analysis/requests/phases.h"
#include "records/run_summary.h"
#include "run/artifacts.h"

namespace profline::summary {

struct KernelRows {
  std::vector<SummaryKernel> kernels;  ///< most time first
  SummaryJoin join;
};

/// One row a kernel and launch shape, from whichever of nsys, ncu and the torch profiler saw it.
/// Times are nsys', else the torch profiler's; a kernel that two tools may mean differently is not
/// joined, and its row says so.
KernelRows kernel_rows(const run::Run& run, const requests::PhaseTree& tree);

/// Kernel time of a phase by what its kernels' counters say; nothing without counters.
std::optional<judgement::KernelBounds> bounds_of(const KernelRows& rows, std::string_view phase);

}  // namespace profline::summary
