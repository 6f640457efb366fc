#pragma once

#include <filesystem>

#include "base/result.h"

namespace profline {

/// Where temporary files go: the folder that TMPDIR names (or TMP, TEMP, TEMPDIR), else /tmp. An
/// Error of kind NotFound, which names the variable, when it is not a folder or not ours to write
/// to: without it no program can be asked anything.
Result<std::filesystem::path> temporary_folder();

}  // namespace profline
