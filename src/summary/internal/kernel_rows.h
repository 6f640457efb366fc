#pragma once

#include <vector>

#include "analysis/judgement/judge.h"
#include "analysis/kernels/classify.h"
#include "analysis/requests/phases.h"
#include "records/run_summary.h"
#include "run/artifacts.h"

namespace profline::summary {

namespace internal {
Result<kernels::Classifier> read_classifier(const run::Run& run, const std::filesystem::path& file);
}  // namespace internal

/// Tries the user's rules ahead of the shipped ones; not there if the user has none.
inline constexpr run::ArtifactName<kernels::Classifier> kClassifier{run::files::kKernelClasses,
                                                                    internal::read_classifier};

struct KernelRows {
  std::vector<SummaryKernel> kernels;  ///< most time first
  SummaryJoin join;
};

/// One row per kernel and launch shape, from whichever of nsys, ncu and the torch profiler recorded
/// it. Times come from nsys, else from the torch profiler. A kernel whose rows cannot be matched
/// unambiguously between tools is not joined, and its row says so.
KernelRows kernel_rows(const run::Run& run, const requests::PhaseTree& tree);

/// A phase's kernel time split by what bounds each kernel according to its counters; nothing
/// without counters.
std::optional<judgement::KernelBounds> bounds_of(const KernelRows& rows, std::string_view phase);

}  // namespace profline::summary
