#pragma once

#include <filesystem>

#include "base/result.h"
#include "records/rank_analysis.h"

namespace profline::session {

/// Compares the ranks of a run. An Error of kind NotFound says what a run without two ranks lacks.
Result<RankAnalysis> compare_ranks(const std::filesystem::path& run);

}  // namespace profline::session
