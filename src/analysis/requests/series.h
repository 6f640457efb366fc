#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/phases.h"
#include "analysis/requests/steady.h"
#include "formats/node.h"
#include "records/load.h"
#include "records/request.h"
#include "statistics/comparison.h"
#include "statistics/steady_state.h"

/// The measurements of a run without a profiler, as lists of independent values.
namespace profline::requests {

/// How a figure depends on the number of steps.
enum class PerStep : std::uint8_t {
  Apart,  ///< not at all: the figure contains no steps
  Sum,    ///< it grows with the number of steps
  Each,   ///< not at all: it is a mean per step
};

/// One figure, with one value per request of the run. Steps of a request are not independent of
/// each other (they share its context, its cache, its moment), so a request counts as one value
/// however many tokens it has.
struct Series {
  std::string name;  ///< `token_ms`, `decode_ms`, the name of a phase
  std::string unit;  ///< `ms`, `tokens/s`
  statistics::Better better = statistics::Better::Lower;
  bool is_phase = false;  ///< a part of the request, not a figure of the whole
  std::vector<double> units = {};
  /// The request of each value: picture and epoch, or id. Unique in the list.
  std::vector<std::string> keys = {};
  /// The requests whose values are not among the units, because they had one-time costs or came
  /// ahead of the steady state.
  std::vector<std::string> left_out = {};
  PerStep per_step = PerStep::Apart;
};

/// Every figure that has a value, from the steady part of the requests. A figure whose phase is too
/// short to tell what is steady has a value for every request. Those of the whole request first:
/// `request_ms`, a `<phase>_ms` for each outermost phase of the model, `token_ms` and
/// `tokens_per_s` of its steps (with batches `step_ms`, `steps_per_s` and `tokens_per_s`); then the
/// host's phase and the leaf phases, by name. Requests without a figure are left out of its list.
std::vector<Series> series_of(std::span<const Request> requests, const PhaseTree& tree,
                              const SteadyPart& steady);
std::vector<Series> series_of(std::span<const Request> requests);

/// Whether the ending of a name, `_ms` or `_per_s`, makes it a figure of requests. Phases may have
/// any name.
bool is_figure(std::string_view name);

/// The most informative of the names of `series_of`, in its order: for requests with steps the
/// first phase (`prefill_ms`) and the time of a step (`token_ms`), else `request_ms`; for a load
/// kLoadFigures.
std::vector<std::string> usual_figures(std::span<const std::string> names);

/// The value that represents a run in lists and comparisons: the median.
double value_of(const Series& series);

/// The only figure of a user's program: its wall time.
constexpr std::string_view kWallFigure = "wall_ms";
/// The figure from a `baseline/process.json`; nothing if it has none.
std::optional<double> wall_ms(const Node& process);

// A load on a server. Its requests are those that succeeded, in the order in which they were due.

/// The most informative figures of a load.
constexpr std::array<std::string_view, 3> kLoadFigures = {"ttft_ms", "tpot_ms",
                                                          "output_tokens_per_s"};

/// The end of the list: what load.json's metrics are computed from.
std::span<const Request> steady_requests(std::span<const Request> requests, const LoadRecord& load);
statistics::Steadiness steadiness_of(const LoadRecord& load);

/// `ttft_ms`, `tpot_ms`, `itl_ms` and `e2e_ms` with a value per steady request, without keys: the
/// n-th requests of two loads have nothing in common. Then, with one value, those of the whole
/// load: `ttft_p99_ms`, `tpot_p99_ms`, `requests_per_s`, `output_tokens_per_s` and, with SLOs,
/// `goodput_per_s`. Figures without a value above 0 are left out.
std::vector<Series> load_series(std::span<const Request> requests, const LoadRecord& load);

/// A run that lost more than this share of its steps' time to something else should not be judged;
/// smaller shares occur on quiet machines too.
constexpr double kDisturbedShare = 0.02;

/// The share of the time of all steps, 0 to 1, by which steps exceeded five times the median of
/// their phase and request: caused not by the model but by something else on the machine. 0 without
/// steps.
double disturbed_share(std::span<const Request> requests);

}  // namespace profline::requests
