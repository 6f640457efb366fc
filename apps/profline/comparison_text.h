#pragma once

#include <cstddef>
#include <string>

#include "comparison/comparison.h"
#include "text_table.h"

namespace profline {

/// A comparison for the terminal; `top` rows of operators and kernels each.
std::string comparison_text(const comparison::Comparison& comparison, std::size_t top,
                            std::size_t width, const Palette& palette);

}  // namespace profline
