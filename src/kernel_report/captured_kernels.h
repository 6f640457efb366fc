#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/runner.h"
#include "records/counters.h"

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

}  // namespace profline::kernel_report
