#pragma once

#include <filesystem>
#include <string>

#include "sweep/sweep.h"

namespace profline {

/// The best job by each of the main metrics, a line each; empty if nothing was measured.
std::string best_jobs_text(const sweep::Sweep& sweep);

/// What a sweep has found: its folder, its jobs with their overrides and ends, the best of them,
/// and where the report is.
std::string sweep_answer(const sweep::Sweep& sweep, const std::filesystem::path& folder,
                         std::size_t width);

}  // namespace profline
