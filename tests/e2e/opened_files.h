#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace profline::e2e {

/// Whether strace is installed and permitted to trace.
bool can_trace();

/// Runs profline in `folder` and counts how often it opened each file below it for reading, by
/// relative path. Files that its children open do not count.
std::map<std::string, int> files_read(const std::filesystem::path& folder,
                                      const std::vector<std::string>& arguments);

}  // namespace profline::e2e
