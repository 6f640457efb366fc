#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "comparison/comparison.h"
#include "comparison/run_measurements.h"

namespace profline::comparison {

/// How much runs of the same thing differ, and how that is known.
struct KnownSpread {
  enum class Basis {
    Assumed,  ///< unknown: good for an interval, not for a verdict
    Given,    ///< by the caller
    Runs,     ///< from other runs of the same thing, without those that open a series
  };

  statistics::RunSpread spread;
  std::string source;  ///< `18 earlier runs`
  Basis basis = Basis::Assumed;
};

/// The assumed spread between two runs if nothing is known: they differ by up to 2 % on a GPU and
/// 20 % on a CPU, or by the effect of a busy machine on one of them, if that is larger.
KnownSpread stated_spread(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b);

/// The default for changes that are irrelevant: 1 %, and 5 % if a side ran on a CPU, whose runs
/// seldom agree well enough for less.
double usual_threshold(std::span<const RunMeasurements> a, std::span<const RunMeasurements> b);

struct Rules {
  double threshold = 0.01;
  /// Rows to compare: names, names with `*`, or `metrics`, `phases`, `operators`, `kernels`. Empty:
  /// all rows.
  std::vector<std::string> only = {};
  /// What is known of a row apart from these runs.
  std::function<KnownSpread(const Series&)> known_spread;
};

/// Whether rows of captures may be among those requested; if not, metrics and phases are enough.
bool wants_captures(std::span<const std::string> only);

/// Neither side is empty. An Error of kind NotFound if no row matches a requested name. Rows of
/// metrics and phases count as regressions if they are SLOWER; those of a profiler only if they
/// were requested by name, because the run without a profiler is authoritative.
///
/// A verdict is withheld if a run was disturbed and its side has no others to show that, if there
/// is one run per side and only an assumed spread, and if such a run opens a series. A run that
/// opens a series is left out of a side that has three others.
Result<Comparison> compare(std::vector<RunMeasurements> a, std::vector<RunMeasurements> b,
                           const Rules& rules);

struct PageOptions {
  std::size_t top = 20;  ///< rows of operators and kernels that are shown
};

/// Markdown for a pull request: what matters first, the rest folded.
std::string markdown_page(const Comparison& comparison, const PageOptions& options = {});

/// A single HTML file that loads nothing.
std::string html_page(const Comparison& comparison, const PageOptions& options = {});

}  // namespace profline::comparison
