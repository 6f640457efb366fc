#pragma once

#include <cstdint>
#include <vector>

#include "records/counters.h"

namespace profline::roofline {

/// Adds what another file says of the same launches (one ncu report is often exported section by
/// section): counters of launches that `into` has are added to them, unless it has them already;
/// other launches come behind. Notes and skipped rows are added up.
void merge_into(CounterReport& into, const CounterReport& more);

/// Launches of one kernel with one shape on one device, as one.
struct KernelMean {
  ProfiledKernel kernel;       ///< its counters are means; the rest is the first launch's
  std::uint64_t launches = 0;  ///< that were profiled
};

struct MeanOptions {
  bool by_ranges = false;  ///< launches in different ranges are told apart
};

/// By first launch.
std::vector<KernelMean> mean_kernels(const CounterReport& report, const MeanOptions& options = {});

}  // namespace profline::roofline
