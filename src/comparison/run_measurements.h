#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "comparison/comparison.h"
#include "formats/node.h"
#include "statistics/comparison.h"

/// What a run left that can be compared.
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
  /// Which input each unit is of; empty: units of two runs do not belong together.
  std::vector<std::string> keys;
  std::optional<std::uint64_t> calls;
  std::optional<double> total;
};

struct RunMeasurements {
  ComparedRun run;
  std::optional<Node> config;
  std::optional<Node> environment;
  std::optional<Node> inputs;
  std::vector<Series> series;
  std::optional<std::uint64_t> new_tokens;  ///< of all images of the unprofiled run
  /// Share of decode time by which steps outlasted five times the usual one: what a busy machine
  /// takes, and takes otherwise the next time.
  double disturbance = 0;
  /// Nothing ran on the machine in the hour before: caches were cold. For who knows of other runs
  /// to say.
  bool opens_series = false;
  std::vector<std::string> notes;  ///< what could not be read, and why
};

struct MeasurementOptions {
  bool captures = true;  ///< kernels and operators as well
};

/// Reads a run's folder. An Error when it holds no run; what is missing or cannot be read is told
/// in the notes.
Result<RunMeasurements> read_measurements(const std::filesystem::path& folder,
                                          const MeasurementOptions& options = {});

/// The runs that a folder means: itself when it holds run.json, else those right below it, by name.
/// An Error of kind NotFound when there is none.
Result<std::vector<std::filesystem::path>> runs_in(const std::filesystem::path& folder);

/// One figure on both sides: what each run has of it.
struct SeriesGroup {
  std::vector<const Series*> a;
  std::vector<const Series*> b;

  const Series& any() const { return a.empty() ? *b.front() : *a.front(); }
};

/// Figures of one name, and of kernels one shape, belong together; in the order of first sight,
/// operators and kernels by the time that the longer side has for them.
std::vector<SeriesGroup> group_series(std::span<const RunMeasurements> a,
                                      std::span<const RunMeasurements> b);

/// Whether every run has the same inputs; then both sides' units in one order.
struct PairedUnits {
  bool paired = false;
  statistics::RunUnits a;
  statistics::RunUnits b;
};
PairedUnits pair_units(const SeriesGroup& group, bool may_pair);

/// Whether a text is what a pattern means; `*` stands for anything.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace profline::comparison
