#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/runner.h"
#include "records/counters.h"

namespace profline::kernel_report {

/// Kernels that ncu captured together: of a `kernel_*` folder, or of one file.
struct Capture {
  std::string id;  ///< the folder's name; empty: rows get numbers
  CounterReport report;
};

/// What lies in `input`: a folder of `kernel_*` folders, each a capture of its own; a folder with
/// CSV files of ncu's, which are one capture; such a file; or an .ncu-rep, which `ncu` imports. CSV
/// files that are none of ncu's are told in the notes of the report; an Error when there is nothing
/// of ncu's at all.
Result<std::vector<Capture>> find_captures(const std::filesystem::path& input,
                                           ProcessRunner& processes, const std::string& ncu);

}  // namespace profline::kernel_report
