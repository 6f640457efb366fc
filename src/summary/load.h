#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/run_summary.h"
#include "run/artifacts.h"

/// The load on a server in a run's summary, and in words. Sentences end without a full stop.
namespace profline::summary {

/// Nothing if the run has no load.json that can be read.
std::optional<SummaryLoad> load_of(const run::Run& run);

/// Whether a load is all that the run has: no phases, no program and no GPU to report on.
bool is_only_load(const RunSummary& summary);

/// Marks a figure that the client's own error could change by more than 5 %.
inline constexpr std::string_view kMark = "*";
/// What the tables say about intervals.
inline constexpr std::string_view kIntervalNote =
    "Intervals: 95 %; a dash marks an end that cannot be determined from so few values";
/// The meaning of the mark; empty if no figure of the load has it.
std::string mark_note(const SummaryLoad& load);

/// A latency of the load.
struct LoadLatencyRow {
  std::string_view id;       ///< `ttft`
  std::string_view name;     ///< `TTFT`
  std::string_view meaning;  ///< `time to the first token`
  const LoadLatency* latency;
};
std::array<LoadLatencyRow, 4> load_latencies(const SummaryLoad& load);

/// A figure of a latency, `p50`; null: not measured.
struct LoadLatencyFigure {
  std::string_view name;
  const std::optional<LoadFigure>& figure;
  bool is_marked = false;
};
std::array<LoadLatencyFigure, 5> latency_figures(const LoadLatency& latency);

/// A figure of the load as a whole; its texts have their units.
struct LoadRateRow {
  std::string name;      ///< `output tokens`
  std::string value;     ///< `1.57 k tokens/s`, with its mark
  std::string interval;  ///< `1.50 k to 1.61 k tokens/s`; a dash: not known
};
std::vector<LoadRateRow> load_rates(const SummaryLoad& load);

/// A delay of the client.
struct LoadDelayRow {
  std::string_view name;
  std::string_view meaning;
  const LoadDelay* delay;
};
std::array<LoadDelayRow, 3> client_delays(const SummaryLoad& load);

/// `21.3 ms`, with a mark if it has one; a dash if absent.
std::string latency_text(const LoadLatencyFigure& figure);
/// `20.9 ms to 21.8 ms`; a dash in place of an end that is not known; empty without any.
std::string latency_interval(const LoadLatencyFigure& figure);

/// `TTFT at most 200 ms and TPOT at most 50.0 ms`; empty: there are no SLOs.
std::string slo_words(const SummaryLoad& load);
/// How many requests were good, and what that means; empty: there are no SLOs.
std::string good_words(const SummaryLoad& load);
/// Whether the client or the server was the bottleneck, and why.
std::string limit_words(const SummaryLoad& load);
/// Which requests the metrics are computed from, and whether these are steady.
std::string steady_words(const SummaryLoad& load);
/// How the times of events were taken, and how busy the client was.
std::string client_words(const SummaryLoad& load);
/// `3 of 200 requests failed`.
std::string failure_words(const SummaryLoad& load);
/// The result of a search; empty: load.search is off.
std::string search_words(const SummaryLoad& load);

/// The verdict on a run that is only a load.
std::string load_verdict(const SummaryLoad& load);

}  // namespace profline::summary
