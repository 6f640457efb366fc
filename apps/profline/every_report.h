#pragma once

#include <filesystem>

#include "base/result.h"
#include "report/write_reports.h"

namespace profline {

/// Writes all that people and programs read of a run, from its artifacts: summary.json, the pages
/// and report.html.
Result<report::Written> write_every_report(const std::filesystem::path& run);

}  // namespace profline
