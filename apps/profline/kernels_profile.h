#pragma once

#include <vector>

#include "verb.h"

namespace profline {

/// `profline kernels profile (--kernel-config F | --kernel-regex RE) [OPTIONS] -- CMD…`: one ncu
/// capture a kernel, of launches that fit. Exit code 1 when a kernel could not be captured.
std::vector<Option> kernels_profile_options();
Result<ExitCode> kernels_profile(const Services& services, const Invocation& invocation);

}  // namespace profline
