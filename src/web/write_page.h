#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/result.h"
#include "web/page_source.h"

/// `report.html`: a run as one self-contained file that needs no network.
namespace profline::web {

/// Writes the page into the run's folder and returns its name there.
Result<std::filesystem::path> write_page(const run::Run& run, const RunSummary& summary);

/// The page itself.
Result<std::string> page_of(const PageSource& source);

/// The Content-Security-Policy of a page with these inline scripts: only they run, by hash, and
/// nothing is loaded from anywhere.
std::string content_policy(std::span<const std::string> scripts);

}  // namespace profline::web
