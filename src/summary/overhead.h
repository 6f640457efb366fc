#pragma once

#include <optional>
#include <vector>

#include "records/run_summary.h"
#include "summary/run_artifacts.h"

namespace profline::summary {

/// The same inputs with and without a profiler.
struct PairedTime {
  double units = 0;
  double baseline_ns = 0;
  double profiled_ns = 0;
};

/// A stage of the first `images` of a profiled run, and of the same images in the baseline; of
/// decode as many steps of each image as both made. Nothing when the baseline lacks one of them.
std::optional<PairedTime> paired_time(const Samples& baseline, const Samples& profiled,
                                      std::size_t images, std::string_view stage);

/// What a program that is not ours took without a profiler; nothing of the built-in workload.
std::optional<SummaryProgram> program_of(const RunArtifacts& run);

/// What each profiler cost, by the workload's own times.
std::vector<SummaryOverhead> overheads(const RunArtifacts& run);

}  // namespace profline::summary
