#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "load/metrics.h"
#include "records/load.h"

/// Figures with their confidence intervals (95 %).
namespace profline::load::internal {

/// Values in groups that do not depend on each other: the tokens of each request, say.
using Clusters = std::vector<std::vector<double>>;

/// Percentiles, mean and histogram of values in milliseconds. The intervals treat groups as
/// independent, and what is in a group as not: groups are resampled as a whole. An end of an
/// interval that so few values do not show is absent.
LoadLatency latency(const Clusters& clusters);

/// The mean of values that follow each other, with Student's interval; not empty.
LoadFigure mean_figure(std::span<const double> in_order);

/// Wilson's interval of `good` of `all`; `all` is above 0.
LoadFigure share_figure(std::uint64_t good, std::uint64_t all);

}  // namespace profline::load::internal

/// The course of a load, and what kept it from being served faster.
namespace profline::load::internal {

/// What happened in each second, warm-up included.
std::vector<LoadSecond> seconds_of(const Observation& observation);

/// Fills in the limit from everything else that the record has.
void decide_limit(const Observation& observation, LoadRecord& record);

}  // namespace profline::load::internal
