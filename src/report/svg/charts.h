#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/roofline/counted_kernel.h"
#include "settings/hardware.h"

/// The pictures of captured kernels, each a complete SVG document.
namespace profline::svg {

/// Kernels by arithmetic intensity and operations per second, both logarithmic, under the ceilings
/// of the device: the slope of its memory, the peaks of the precisions that were used, and the
/// ridge between them. Kernels without both figures are listed but not drawn.
std::string physical_roofline(std::span<const roofline::CountedKernel> rows,
                              const settings::Ceilings& ceilings, const std::string& title);

/// Kernels by ncu's shares of the sustained peaks of DRAM and SM, 0 to 100 %. In the band around
/// the diagonal, kernels count as balanced by the margin.
std::string normalised_roofline(std::span<const roofline::CountedKernel> rows, double margin,
                                const std::string& title);

/// How many kernels have a figure in each of ten bins.
std::string histogram(const roofline::Histogram& histogram);

}  // namespace profline::svg
