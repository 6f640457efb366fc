#pragma once

#include <optional>
#include <vector>

#include "analysis/requests/phases.h"
#include "analysis/requests/steady.h"
#include "records/run_summary.h"
#include "run/artifacts.h"

namespace profline::summary {

/// The same inputs with and without a profiler.
struct PairedTime {
  double units = 0;
  double baseline_ns = 0;
  double profiled_ns = 0;
};

/// The time of a phase over the first `count` requests of a profiled run and over the same requests
/// of the baseline; for a phase with steps, over as many steps of each request as both have.
/// One-time costs of the baseline (`steady` is its steady part) are replaced by what is usual.
/// Nothing if the baseline lacks one of the requests, or what is usual for it.
std::optional<PairedTime> paired_time(const run::Requests& baseline,
                                      const requests::SteadyPart& steady,
                                      const run::Requests& profiled, std::size_t count,
                                      std::string_view path);

/// What a user's program took without a profiler; nothing for the built-in workload.
std::optional<SummaryProgram> program_of(const run::Run& run);

/// The slow-down by each profiler, from the workload's own times.
std::vector<SummaryOverhead> overheads(const run::Run& run, const requests::PhaseTree& tree,
                                       const requests::SteadyPart& steady);

}  // namespace profline::summary
