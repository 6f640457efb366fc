#pragma once

#include <filesystem>

#include "base/result.h"
#include "web/page_source.h"

/// `report.html`: a run as one file that needs no network and no other file to be read.
namespace profline::web {

/// Writes the page of a run that was summarised, from summary.json and the artifacts beside it, and
/// tells its name below the folder. An Error when the folder is no run or has no summary.json.
Result<std::filesystem::path> write_page(const std::filesystem::path& run_folder);

/// The same of a run that was read.
Result<std::filesystem::path> write_page(const summary::RunArtifacts& run);

/// The page itself.
Result<std::string> page_of(const PageSource& source);

}  // namespace profline::web
