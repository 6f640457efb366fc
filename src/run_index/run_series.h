#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run_index/indexed_run.h"
#include "statistics/comparison.h"

/// What runs that were made one after the other say about each other.
namespace profline::run_index {

/// Which runs open a series: no other of these ran on that machine in the hour before. Such a run
/// finds cold caches and a machine that was doing something else, and is seldom like those that
/// follow. A run whose start is not known opens none.
std::vector<bool> opens_series(std::span<const IndexedRun> runs);

/// How far runs of the same things are apart in a figure: of those with one of these fingerprints
/// that ended well, were not disturbed and do not open a series; of each fingerprint the newest 50.
/// Nothing when there are fewer than three of a kind.
std::optional<statistics::RunSpread> spread_of(std::span<const IndexedRun> runs,
                                               const std::set<std::string>& fingerprints,
                                               std::string_view metric);

}  // namespace profline::run_index
