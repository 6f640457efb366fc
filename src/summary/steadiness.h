#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/phases.h"
#include "analysis/requests/steady.h"
#include "records/run_summary.h"
#include "run/artifacts.h"
#include "statistics/steady_state.h"

/// The steady part of a run in its summary, and in words.
namespace profline::summary {

/// Of the baseline; empty without one. The run must outlive it.
requests::SteadyPart steady_part(const run::Run& run, const requests::PhaseTree& tree);

/// Nothing if the phase took no time.
std::optional<SummarySteady> steady_row(const requests::SteadyPart& steady, std::string_view path);

/// The most expensive first.
std::vector<SummaryOneTime> one_time_costs(const requests::PhaseTree& tree,
                                           const requests::SteadyPart& steady,
                                           const std::string& source);

/// Adds what recurs or alternates in the steady part itself.
void note_patterns(const requests::PhaseTree& tree, const requests::SteadyPart& steady,
                   std::vector<std::string>& notes);

/// `first use of a shape`, `warm-up`.
std::string_view reason_words(const SummaryOneTime& costs);

/// `first use of a shape in prefill (99.0 ms instead of 16.0 ms, three times)`.
std::string one_time_words(const SummaryOneTime& costs);

// Sentences without a capital letter and a full stop.

/// What the means leave out; empty: nothing.
std::string left_out_words(const RunSummary& summary);

/// Why the times of a phase, or of the requests as a whole, may not stand for what follows; empty:
/// they do.
std::string doubt_words(const RunSummary& summary, const PhaseSummary& phase);
std::string doubt_words(const RunSummary& summary);

}  // namespace profline::summary
