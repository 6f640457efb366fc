#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/phases.h"
#include "records/run_summary.h"
#include "run/artifacts.h"
#include "summary/device_activity.h"
#include "summary/kernel_rows.h"
#include "summary/measured_costs.h"

namespace profline::summary {

/// The phases of the run's requests: of the baseline, or else of the first profiled run that has
/// any.
requests::PhaseTree phase_tree(const run::Run& run);

/// All that is known of each phase without parts that the baseline measured, with what bounds it;
/// without a baseline (a program that is not ours) of the ranges that nsys saw.
std::vector<PhaseSummary> phase_summaries(const run::Run& run, const requests::PhaseTree& tree,
                                          const MeasuredCosts& costs,
                                          const DeviceActivities& devices,
                                          const KernelRows& kernels);

/// A whole request; nothing without a baseline.
std::optional<SummaryRequest> request_of(const run::Run& run, const requests::PhaseTree& tree,
                                         const MeasuredCosts& costs);

/// Of units of a phase, such as single tokens. Nothing when the baseline did not measure it.
std::optional<SummaryTimes> phase_times(const run::Run& run, std::string_view path);

/// The phase that people ask about first: the one with steps that takes the most time; without
/// steps the range or phase that takes the most time. Null: there are no phases.
const PhaseSummary* leading_phase(const RunSummary& summary);

/// A line of a table that accounts for a request.
struct PhaseLine {
  std::string name;  ///< of a phase, or `rest of prefill`
  double share = 0;
  const PhaseSummary* phase = nullptr;  ///< null: only its share is known
};
/// All phases without parts in the order in which they begin, and after its last part what a phase
/// does outside its parts; of a program without requests its ranges. The summary must outlive them.
std::vector<PhaseLine> phase_lines(const RunSummary& summary);

/// Which files the table of phases is from, phase after phase: pages name each once.
struct PhaseSources {
  std::vector<std::string> times{};
  std::vector<std::string> costs{};
  std::vector<std::string> devices{};
  std::string ceilings{};  ///< whose floors are stated; empty: not known
  std::string shapes{};
};
PhaseSources phase_sources(const RunSummary& summary);

}  // namespace profline::summary
