#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/node.h"
#include "records/request.h"
#include "statistics/comparison.h"

/// What a run without a profiler measured, as lists of independent values.
namespace profline::requests {

/// One figure, once for each request of the run. Steps of one request are not independent of each
/// other (they share its context, its cache, its moment), so a request is one value however many
/// tokens it has.
struct Series {
  std::string name;  ///< `token_ms`, `decode_ms`, the name of a phase
  std::string unit;  ///< `ms`, `tokens/s`
  statistics::Better better = statistics::Better::Lower;
  bool is_phase = false;  ///< a part of the request, not a figure of it
  std::vector<double> units;
  /// Which request each is: picture and epoch, or id. Unique in the list.
  std::vector<std::string> keys;
};

/// Every figure that has a value, those of the whole request first: `request_ms`, a `<phase>_ms`
/// for each outermost phase of the model, `token_ms` and `tokens_per_s` of its steps; then the
/// host's phase and the phases without parts, by name. Requests without a figure are left out of
/// its list.
std::vector<Series> series_of(std::span<const Request> requests);

/// Whether a name is that of a figure of requests by how it ends: `_ms`, `_per_s`. Phases may have
/// any name.
bool is_figure(std::string_view name);

/// What stands for a run in lists and between runs: the median.
double value_of(const Series& series);

/// What is known of a user's program: how long it took.
constexpr std::string_view kWallFigure = "wall_ms";
/// That of a `baseline/process.json`; nothing when it has none.
std::optional<double> wall_ms(const Node& process);

/// A run that lost more than this share of its steps' time to something else is not to be judged;
/// less is seen on quiet machines too.
constexpr double kDisturbedShare = 0.02;

/// The share of the time of all steps, 0 to 1, by which steps outlasted five times the median of
/// their phase and request: not the model's doing, but that of something else on the machine. 0
/// without steps.
double disturbed_share(std::span<const Request> requests);

}  // namespace profline::requests
