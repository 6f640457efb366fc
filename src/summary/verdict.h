#pragma once

#include <string>
#include <string_view>

#include "records/run_summary.h"

namespace profline::summary {

/// Of all the time: what takes less, or could save less, is no next step.
inline constexpr double kWorthAStep = 0.01;

/// The phase that takes the most time; null without phases.
const PhaseSummary* largest_phase(const RunSummary& summary);

/// What shares of phases are of: `each request`, or `the captured time` where nothing was timed
/// without a profiler.
std::string_view whole_of(const RunSummary& summary);

/// `decode is launch-bound`, `decode is not dominated by one limit`; `name` as it is to be shown.
std::string class_words(const PhaseSummary& phase, const std::string& name);

/// `a token would take 1.93 ms if the GPU never waited (2.6x faster)`.
std::string gain_words(const PhaseSummary& phase, const SummaryGain& gain);

/// Whether doing something about a phase can be worth the effort.
bool is_worth_a_step(const PhaseSummary& phase);

/// What limits the phase that takes the most time, the numbers that say so and what that allows at
/// most; or why there is no verdict. Sentences, the last without its full stop.
std::string verdict_of(const RunSummary& summary);

}  // namespace profline::summary
