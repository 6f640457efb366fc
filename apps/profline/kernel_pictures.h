#pragma once

#include <filesystem>
#include <span>

#include "analysis/roofline/kernel_table.h"
#include "base/result.h"
#include "settings/ceilings.h"

namespace profline {

/// `roofline_scatter_{normalized,physical}.svg`,
/// `roofline_per_kernel/<id>_{normalized,physical}.svg` and `histograms/<metric>.svg` in `folder`.
Result<void> write_kernel_pictures(std::span<const roofline::KernelRow> rows,
                                   const settings::Ceilings& ceilings, double margin,
                                   const std::filesystem::path& folder);

}  // namespace profline
