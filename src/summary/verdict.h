#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/phases.h"
#include "records/run_summary.h"
#include "run/artifacts.h"

namespace profline::summary {

/// A phase that takes less than this share of the total time, or could save less, gets no next
/// step.
inline constexpr double kWorthAStep = 0.01;
/// A phase that takes less than this share of the total time gets a line, not a paragraph.
inline constexpr double kSmallShare = 0.02;

/// The phase that takes the most time; null without phases.
const PhaseSummary* largest_phase(const RunSummary& summary);

/// All phases, the largest share first.
std::vector<const PhaseSummary*> by_share(const RunSummary& summary);

/// What the shares of phases refer to: `each request`, or `the captured time` if nothing was timed
/// without a profiler.
std::string_view whole_of(const RunSummary& summary);

/// Whether one limit explains the time of a phase. If not, the verdict includes the next step.
bool has_one_limit(const PhaseSummary& phase);

/// `decode is launch-bound`, `decode is not dominated by one limit`; `name` as it is shown.
std::string class_words(const PhaseSummary& phase, const std::string& name);

/// How the class came about, if it changed as evidence was added: `from the model's shapes alone,
/// unknown (…); with activity of the GPU, launch-bound (…)`. Empty: it did not change.
std::string class_changes(const PhaseSummary& phase);

/// `a token would take 2.14 ms if the GPU never waited (2.4x faster)`.
std::string gain_words(const PhaseSummary& phase, const SummaryGain& gain);

/// The phase whose next step comes first: the largest one, or, if that is a whole capture, the
/// range in it that takes most of its time. Null: there are no phases.
const PhaseSummary* phase_to_improve(const RunSummary& summary);

/// Whether improving a phase can be worth the effort.
bool is_worth_a_step(const PhaseSummary& phase);

/// Whether the share of a phase is known and below kSmallShare.
bool is_small(const PhaseSummary& phase);

/// The first host phase that takes enough of a request to be worth a sentence; null if none does.
const SummaryPart* notable_host_work(const SummaryRequest& request);

/// The largest overhead of a profiler; null if none slows the program down much.
const SummaryOverhead* notable_overhead(const RunSummary& summary);

/// What limits the phase that takes the most time, the figures that show it and the largest
/// possible gain. If no limit explains it: where the time goes and what to do next. Or why there
/// is no verdict. Sentences, the last without its full stop.
std::string verdict_of(const RunSummary& summary);

}  // namespace profline::summary

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
