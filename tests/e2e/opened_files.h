#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "process/runner.h"

namespace profline::e2e {

/// Whether strace is installed and permitted to trace.
bool can_trace();

/// Runs profline in `folder` and counts how often it opened each file below it for reading, by
/// relative path. Files that its children open do not count. `base` has the environment.
std::map<std::string, int> files_read(const std::filesystem::path& folder,
                                      const std::vector<std::string>& arguments, Command base = {});

}  // namespace profline::e2e
