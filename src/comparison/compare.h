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
  statistics::RunSpread spread;
  std::string source;  ///< `18 earlier runs`
};

/// What is taken for the spread between two runs as long as nothing is known: they differ by up to
/// 2 % on a GPU and 6 % on a CPU, or by what a busy machine that took its share of one of them may
/// do, if that is more.
KnownSpread stated_spread(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b);

struct Rules {
  double threshold = 0.01;
  /// Rows to compare: names, names with `*`, or `metrics`, `stages`, `operators`, `kernels`. Empty:
  /// all there are.
  std::vector<std::string> only = {};
  /// What is known of a row beside these runs.
  std::function<KnownSpread(const Series&)> known_spread;
};

/// Whether rows of captures may be among those asked for; false: metrics and stages are enough.
bool wants_captures(std::span<const std::string> only);

/// Neither side is empty. An Error of kind NotFound when no row has a name that was asked for.
/// Rows of metrics and stages count as regressions when they are SLOWER; those of a profiler only
/// where they were asked for by name, for the run without one is the truth.
Result<Comparison> compare(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b,
                           const Rules& rules);

}  // namespace profline::comparison
