#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "run_index/indexed_run.h"

/// What runs that were made one after the other say about each other.
namespace profline::run_index {

/// Which runs open a series: no other of these ran on that machine in the hour before. Such a run
/// finds cold caches and a machine that was doing something else, and is seldom like those that
/// follow. A run whose start is not known opens none.
std::vector<bool> opens_series(std::span<const IndexedRun> runs);

/// Which runs say how far runs of the same thing are apart, by fingerprint: those that ended well,
/// were not disturbed and do not open a series, the newest 50 of each.
std::map<std::string, std::vector<std::size_t>> usual_runs(std::span<const IndexedRun> runs);

}  // namespace profline::run_index
