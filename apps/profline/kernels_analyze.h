#pragma once

#include <vector>

#include "verb.h"

namespace profline {

/// `profline kernels analyze DIR`: what bounds the kernels that ncu captured. Prints a table and
/// writes metrics_summary.csv, classification_summary.csv, all_metrics_long.csv, histograms.csv and
/// pictures into `DIR/analysis`.
std::vector<Option> kernels_analyze_options();
Result<ExitCode> kernels_analyze(const Services& services, const Invocation& invocation);

}  // namespace profline
