#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/phases.h"
#include "records/run_summary.h"
#include "run/artifacts.h"

/// The phases of a summary as pages list them.
namespace profline::summary {

/// The phases of the run's requests: from the baseline, else from the first profiled run that has
/// any.
requests::PhaseTree phase_tree(const run::Run& run);

/// The phase that readers ask about first: the one with steps that takes the most time; if none has
/// steps, the range or phase that takes the most time. Null: there are no phases.
const PhaseSummary* leading_phase(const RunSummary& summary);

/// The outermost phase of the model without steps that takes the most time; null without one.
const SummaryPart* longest_pass(const SummaryRequest& request);

/// A line of the table that accounts for a request.
struct PhaseLine {
  std::string name;  ///< of a phase, or `rest of prefill`
  double share = 0;
  const PhaseSummary* phase = nullptr;  ///< null: only its share is known
};
/// The leaf phases in the order in which they begin and, after the last part of a phase, the rest
/// of that phase outside its parts; for a program without requests, its ranges. The summary must
/// outlive the result.
std::vector<PhaseLine> phase_lines(const RunSummary& summary);

/// The files that the table of phases comes from, in phase order; pages name each file once.
struct PhaseSources {
  std::vector<std::string> times{};
  std::vector<std::string> costs{};
  std::vector<std::string> devices{};
  std::string ceilings{};  ///< that the floors were computed with; empty: not known
  std::string shapes{};
};
PhaseSources phase_sources(const RunSummary& summary);

}  // namespace profline::summary
