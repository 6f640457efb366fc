#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "comparison/comparison.h"
#include "comparison/run_measurements.h"

namespace profline::comparison {

/// How far apart runs of one thing are, and who says so.
struct KnownSpread {
  enum class Basis {
    Assumed,  ///< nothing is known: good for an interval, not for a verdict
    Given,    ///< by whoever asks
    Runs,     ///< other runs of the same thing, those that open a series left out
  };

  statistics::RunSpread spread;
  std::string source;  ///< `18 earlier runs`
  Basis basis = Basis::Assumed;
};

/// What is taken for the spread between two runs as long as nothing is known: they differ by up to
/// 2 % on a GPU and 6 % on a CPU, or by what a busy machine that took its share of one of them may
/// do, if that is more.
KnownSpread stated_spread(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b);

/// The changes that do not matter where nobody says which do: 1 %, and 5 % where a side ran on a
/// CPU, whose runs seldom agree well enough to tell less.
double usual_threshold(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b);

struct Rules {
  double threshold = 0.01;
  /// Rows to compare: names, names with `*`, or `metrics`, `phases`, `operators`, `kernels`. Empty:
  /// all there are.
  std::vector<std::string> only = {};
  /// What is known of a row beside these runs.
  std::function<KnownSpread(const Series&)> known_spread;
};

/// Whether rows of captures may be among those asked for; false: metrics and phases are enough.
bool wants_captures(std::span<const std::string> only);

/// Neither side is empty. An Error of kind NotFound when no row has a name that was asked for.
/// Rows of metrics and phases count as regressions when they are SLOWER; those of a profiler only
/// where they were asked for by name, for the run without one is the truth.
///
/// A verdict is withheld where a run was disturbed and its side has no others to show it, where one
/// run a side has only an assumed spread to go by, and where one opens a series. A run that opens
/// the series is left out of a side that has three others.
Result<Comparison> compare(std::vector<RunMeasurements> a, std::vector<RunMeasurements> b,
                           const Rules& rules);

}  // namespace profline::comparison
