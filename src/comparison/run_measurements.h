#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/requests/series.h"
#include "base/result.h"
#include "comparison/comparison.h"
#include "formats/node.h"
#include "run/run.h"
#include "statistics/comparison.h"
#include "statistics/steady_state.h"

/// The comparable measurements of a run.
namespace profline::comparison {

/// One figure of one run.
struct Series {
  Family family = Family::Metric;
  std::string name;
  std::string short_name;
  std::string shape;
  std::string unit;
  statistics::Better better = statistics::Better::Lower;
  std::vector<double> units;
  /// The input of each unit; empty if units of two runs do not correspond.
  std::vector<std::string> keys;
  /// Inputs that were measured but are not part of the steady state.
  std::vector<std::string> left_out = {};
  std::optional<std::uint64_t> calls;
  std::optional<double> total;
  requests::PerStep per_step = requests::PerStep::Apart;
};

struct RunMeasurements {
  ComparedRun run;
  std::optional<Node> config;
  std::optional<Node> environment;
  std::optional<Node> inputs;
  std::vector<Series> series;
  std::optional<std::uint64_t> new_tokens;  ///< of all requests of the unprofiled run
  /// Of the unprofiled run: how many requests it has, how many of them are steady, and whether the
  /// run is long enough to tell.
  std::uint64_t requests = 0;
  std::uint64_t steady_requests = 0;
  statistics::Steadiness steadiness = statistics::Steadiness::TooShort;
  /// The time by which steps exceeded five times the usual step, as a share of the time of all
  /// steps: the effect of a busy machine, which differs from run to run.
  double disturbance = 0;
  /// Nothing ran on the machine in the hour before: caches were cold. Set by callers that know of
  /// other runs.
  bool opens_series = false;
  /// Of a load on a server: mean tokens that a request generated.
  std::optional<double> load_tokens;
  bool is_load = false;
  std::vector<std::string> notes;  ///< what could not be read, and why
};

struct MeasurementOptions {
  bool captures = true;  ///< kernels and operators as well
};

/// What is missing or cannot be read is listed in the notes.
RunMeasurements measurements_of(const run::Run& run, const MeasurementOptions& options = {});

/// The runs in a folder: itself if it has a run.json, else those directly below it, by name. An
/// Error of kind NotFound if there are no runs.
Result<std::vector<std::filesystem::path>> runs_in(const std::filesystem::path& folder);

/// One figure on both sides: the series of each run.
struct SeriesGroup {
  std::vector<const Series*> a;
  std::vector<const Series*> b;

  const Series& any() const { return a.empty() ? *b.front() : *a.front(); }
};

/// Groups figures with the same name and, for kernels, the same shape; in the order of first
/// occurrence, operators and kernels by their time on the longer side.
std::vector<SeriesGroup> group_series(std::span<const RunMeasurements> a,
                                      std::span<const RunMeasurements> b);

/// Whether every run measured the same inputs; if so, the units of both sides in the same order. An
/// input that is not steady in one of the runs is left out of all of them. If fewer than half of
/// the inputs remain, units are not paired.
struct PairedUnits {
  bool paired = false;
  statistics::RunUnits a;
  statistics::RunUnits b;
};
PairedUnits pair_units(const SeriesGroup& group, bool may_pair);

}  // namespace profline::comparison
