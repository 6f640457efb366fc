#pragma once

#include <vector>

#include "records/run_summary.h"
#include "summary/device_activity.h"
#include "summary/kernel_rows.h"
#include "summary/measured_costs.h"
#include "summary/run_artifacts.h"

namespace profline::summary {

/// All that is known of each stage of the model, with what bounds it: the stages that the baseline
/// measured; without a baseline (a program that is not ours) the ranges that nsys saw.
std::vector<SummaryStage> model_stages(const RunArtifacts& run, const MeasuredCosts& costs,
                                       const DeviceActivities& devices, const KernelRows& kernels);

/// A whole request; nothing without a baseline.
std::optional<SummaryRequest> request_of(const RunArtifacts& run, const MeasuredCosts& costs);

}  // namespace profline::summary
