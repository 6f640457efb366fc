#pragma once

#include <vector>

#include "load/metrics.h"
#include "records/load.h"

/// The course of a load, and what kept it from being served faster.
namespace profline::load::internal {

/// What happened in each second, warm-up included.
std::vector<LoadSecond> seconds_of(const Observation& observation);

/// Fills in the limit from everything else that the record has.
void decide_limit(const Observation& observation, LoadRecord& record);

}  // namespace profline::load::internal
