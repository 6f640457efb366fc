#pragma once

#include <optional>
#include <string>

#include "records/run_summary.h"
#include "run/artifacts.h"

namespace profline::web {

/// What the device's memory can move, and who says so.
struct MemoryRoof {
  double bytes_per_second = 0;
  std::string from;  ///< for people: `the bandwidth of NVIDIA H200 (datasheet)`
  std::string file;  ///< below the run's folder
};

/// The bandwidth that the run's floors were computed with (the device table's, a measured one or
/// MEM_BANDWIDTH_GBS); without one what ncu's DRAM throughput says is 100 %. Shares that include
/// caches are never used: they make the roof too low. Nothing: neither is known.
std::optional<MemoryRoof> memory_roof(const run::Run& run, const RunSummary& summary);

}  // namespace profline::web
