#pragma once

#include <cstddef>
#include <string>

#include "records/rank_analysis.h"
#include "text_table.h"

namespace profline {

/// A comparison of ranks as text: findings, then tables of at most `top` rows each (of ranks, all).
std::string ranks_text(const RankAnalysis& analysis, std::size_t top, std::size_t width,
                       const Palette& palette);

}  // namespace profline
