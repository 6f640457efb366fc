#pragma once

#include <vector>

#include "verb.h"

namespace profline {

/// `profline kernels regions CAPTURE`: what ncu measured by the NVTX ranges of the program, with
/// inclusive and exclusive times, and rules over which kernels count where.
std::vector<Option> kernels_regions_options();
Result<ExitCode> kernels_regions(const Services& services, const Invocation& invocation);

}  // namespace profline
