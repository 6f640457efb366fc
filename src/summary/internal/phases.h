#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/phases.h"
#include "analysis/requests/steady.h"
#include "records/run_summary.h"
#include "run/artifacts.h"
#include "summary/internal/device_activity.h"
#include "summary/internal/kernel_rows.h"
#include "summary/internal/measured_costs.h"
#include "summary/phase_lines.h"

namespace profline::summary {

/// A whole request with the times of all its phases; nothing without a baseline, of which `steady`
/// is the steady part.
std::optional<SummaryRequest> request_of(const run::Run& run, const requests::PhaseTree& tree,
                                         const requests::SteadyPart& steady,
                                         const MeasuredCosts& costs);

/// Each phase of `request` without parts, with everything known about it and what bounds it;
/// without a request (a user's program), the ranges that nsys recorded.
std::vector<PhaseSummary> phase_summaries(const run::Run& run, const requests::PhaseTree& tree,
                                          const std::optional<SummaryRequest>& request,
                                          const MeasuredCosts& costs,
                                          const DeviceActivities& devices,
                                          const KernelRows& kernels);

}  // namespace profline::summary
