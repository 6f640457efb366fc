#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/kernels/canonical_name.h"
#include "analysis/kernels/classify.h"
#include "analysis/roofline/counted_kernel.h"
#include "base/result.h"
#include "process/runner.h"
#include "records/counters.h"
#include "settings/hardware.h"

namespace profline::kernel_report {

/// Kernels that ncu captured together: from a `kernel_*` folder, or from one file.
struct Capture {
  std::string id;  ///< the folder's name; empty: rows get numbers
  CounterReport report;
};

/// Reads `input`: a folder of `kernel_*` folders, each a separate capture; a folder with CSV files
/// of ncu, which are one capture; a single such file; or an .ncu-rep, which `ncu` imports. CSV
/// files that ncu did not write are listed in the notes of the report; an Error if there is nothing
/// from ncu at all.
Result<std::vector<Capture>> find_captures(const std::filesystem::path& input,
                                           ProcessRunner& processes, const std::string& ncu);

/// A user-defined name of a kernel.
struct FriendlyName {
  kernels::CanonicalName raw;
  std::string friendly;
};

/// A YAML list of `raw_name` and `friendly_name`.
Result<std::vector<FriendlyName>> load_friendly_names(const std::string& file);

struct AnalysisOptions {
  /// The ceilings of a device by the name that the driver or the user gives it.
  std::function<Result<settings::Ceilings>(const std::string& device)> ceilings_of;
  std::optional<std::string> device{};  ///< whose ceilings to use; absent: as ncu names it
  double margin = 5;                    ///< SM and DRAM shares within this many points are balanced
  std::vector<FriendlyName> friendly_names{};
};

/// What bounds captured kernels.
struct KernelAnalysis {
  std::vector<roofline::CountedKernel> rows;
  std::vector<std::string> notes;
  std::string all_metrics;      ///< as CSV
  settings::Ceilings ceilings;  ///< of the device of the first kernel that has one
};

Result<KernelAnalysis> analyse_kernels(std::vector<Capture> captures,
                                       const kernels::Classifier& classes,
                                       const AnalysisOptions& options);

/// Writes metrics_summary.csv, classification_summary.csv, all_metrics_long.csv, histograms.csv and
/// pictures: rooflines of all kernels together and of each, and a histogram of each metric.
Result<void> write_analysis(const KernelAnalysis& analysis, double margin,
                            const std::filesystem::path& folder);

}  // namespace profline::kernel_report
