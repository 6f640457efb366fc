#pragma once

#include <optional>
#include <vector>

#include "analysis/requests/phases.h"
#include "records/run_summary.h"
#include "run/artifacts.h"

namespace profline::summary {

/// The same inputs with and without a profiler.
struct PairedTime {
  double units = 0;
  double baseline_ns = 0;
  double profiled_ns = 0;
};

/// A phase of the first `count` requests of a profiled run, and of the same requests in the
/// baseline; of a phase that repeats as many steps of each request as both made. Nothing when the
/// baseline lacks one of them.
std::optional<PairedTime> paired_time(const run::Requests& baseline, const run::Requests& profiled,
                                      std::size_t count, std::string_view path);

/// What a program that is not ours took without a profiler; nothing of the built-in workload.
std::optional<SummaryProgram> program_of(const run::Run& run);

/// What each profiler cost, by the workload's own times.
std::vector<SummaryOverhead> overheads(const run::Run& run, const requests::PhaseTree& tree);

}  // namespace profline::summary
