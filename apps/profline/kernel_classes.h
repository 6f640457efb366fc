#pragma once

#include <filesystem>
#include <optional>

#include "analysis/kernels/classify.h"
#include "base/result.h"

namespace profline {

/// The shipped classes of kernels, with the rules of the user's own file before them.
Result<kernels::Classifier> load_kernel_classes(const std::optional<std::filesystem::path>& own);

}  // namespace profline
