#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace_report.h"

namespace profline {

enum class TraceExport { Perfetto, Csv, Json };

/// Where the export of `trace.json.gz` goes when nobody says: `trace.perfetto.json`,
/// `trace.report.json`, or for CSV the folder `trace.csv`; in the folder profline was started in.
std::filesystem::path default_export_path(const Timeline& timeline, TraceExport what);

/// What a viewer would show of the trace and an export for Perfetto lacks, because it is not read:
/// `Python frame (1234), instant event (20)`. Empty when there is nothing like that.
std::string left_out_of_perfetto(const Timeline& timeline);

/// Writes all rows, whole or not at all, and returns the files. CSV: a folder of kernels.csv,
/// kernel_operators.csv, operators.csv and ranges.csv.
Result<std::vector<std::filesystem::path>> export_trace(const TraceReport& report, TraceExport what,
                                                        const std::filesystem::path& to);

}  // namespace profline
