#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/result.h"
#include "web/page_source.h"

/// `report.html`: a run as one file that needs no network and no other file to be read.
namespace profline::web {

/// Writes the page of a run into its folder and returns its name there.
Result<std::filesystem::path> write_page(const run::Run& run, const RunSummary& summary);

/// The page itself.
Result<std::string> page_of(const PageSource& source);

/// The Content-Security-Policy of a page with these inline scripts: they run, by their hashes, and
/// nothing else does; nothing is loaded from anywhere.
std::string content_policy(std::span<const std::string> scripts);

}  // namespace profline::web
