#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/node.h"
#include "records/sample.h"
#include "statistics/comparison.h"

/// What a run without a profiler measured, as lists of independent values.
namespace profline::samples {

/// One figure, once for each inference of the run. Steps of one image are not independent of each
/// other (they share its context, its cache, its moment), so an image is one value however many
/// tokens it has.
struct Series {
  std::string name;  ///< `token_ms`, `sam`
  std::string unit;  ///< `ms`, `tokens/s`
  statistics::Better better = statistics::Better::Lower;
  bool is_stage = false;  ///< a part of the request, not a figure of it
  std::vector<double> units;
  /// Which inference each is: image and epoch. Unique in the list.
  std::vector<std::string> keys;
};

/// Every figure that has a value, those of the whole request first. Inferences without it (no
/// decode step, no tiles) are left out of its list.
std::vector<Series> series_of(std::span<const Sample> samples);

/// Whether series_of() may give a figure of this name.
bool is_figure(std::string_view name);

/// What stands for a run in lists and between runs: the median.
double value_of(const Series& series);

/// What is known of a user's program: how long it took.
constexpr std::string_view kWallFigure = "wall_ms";
/// That of a `baseline/process.json`; nothing when it has none.
std::optional<double> wall_ms(const Node& process);

/// A run that lost more than this share of its decode time to something else is not to be judged;
/// less is seen on quiet machines too.
constexpr double kDisturbedShare = 0.02;

/// The share of decode time, 0 to 1, by which steps outlasted five times their image's median: not
/// the model's doing, but that of something else on the machine. 0 without steps.
double disturbed_share(std::span<const Sample> samples);

}  // namespace profline::samples
